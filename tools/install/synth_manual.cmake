# cmake -DPROGRAM=... -DVERSION=... -DOUT=... -P: writes tmerge-synth(1) from its --help.
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" help "${help}")
file(WRITE ${OUT} ".Dd November 22, 2026
.Dt TMERGE-SYNTH 1
.Os tmerge ${VERSION}
.Sh NAME
.Nm tmerge-synth
.Nd write the traces of a simulated training job, with the truth about them
.Sh DESCRIPTION
.Bd -literal
${help}.Ed
.Sh SEE ALSO
.Xr tmerge 1
")
