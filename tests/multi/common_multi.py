"""Hosts in network namespaces of one machine, and Slurm on them (netns.sh, slurm.sh)."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cli'))

from common import SKIPPED, SOURCE, TMERGE, run  # noqa: E402

# Hosts have their own /dev/shm and /tmp: of the machine's they only see the folders listed here.
for name in ('TMPDIR', 'OMPI_MCA_btl_vader_backing_directory'):
    os.environ.pop(name, None)
os.environ['HOSTS_DIR'] = tempfile.mkdtemp(prefix='tmerge-hosts-', dir='/tmp')
os.environ['HOSTS_KEEP'] = ' '.join({SOURCE, os.path.dirname(TMERGE), os.getcwd()})


def up(script, needed):
    """Starts the hosts of a script, which end with the test; skips it if hosts are not possible."""
    missing = [name for name in needed if not shutil.which(name)]
    why = ('this wants root' if os.geteuid() != 0 else
           f'not installed: {", ".join(missing)}' if missing else '')
    if not why:
        tried = run(['unshare', '--net', '--pid', '--fork', '--mount', '--uts', '--ipc', 'true'])
        why = tried.err.strip() if tried.status != 0 else ''
    if why:
        print(f'no hosts here: {why}')
        os.rmdir(os.environ['HOSTS_DIR'])
        sys.exit(SKIPPED)
    script = os.path.join(HERE, script)
    atexit.register(subprocess.run, [script, 'down'], check=True)
    # To a file: processes on the hosts would keep a pipe open.
    with open('hosts.log', 'w+') as log:
        if subprocess.run([script, 'up', '3'], stdin=subprocess.DEVNULL, stdout=log,
                          stderr=subprocess.STDOUT, check=False).returncode != 0:
            log.seek(0)
            sys.exit(log.read())
    return script
