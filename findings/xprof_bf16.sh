#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: for a GPU that does nothing but matrix products in bf16, the overview has 100 % of 16-bit computation,
# and kernel_stats says that they use tensor cores.
# Seen:
# - Without shapes, as in JAX's profiles, a kernel is of 16 bits if its name has "half" or "fp16". Kernels of
#   bf16 have neither: the overview of a bf16 job has 100 % of 32-bit computation.
# - A kernel uses tensor cores if its name has one of a list of parts, which are those of Volta to Ampere
#   (s16816, xmma_gemm). From Hopper on most products have other names (nvjet, wgmma), and so have XLA's own
#   (gemm_fusion): "Kernel uses TensorCore" is false, and the utilization of the tensor cores 0 %.
#
# Output: share of 16-bit computation, whether tensor cores are used, and their utilization, of products that all
# use them: in fp16 and bf16 on an A100; in bf16 on an H100 or B200, with the names that cuBLAS, cuDNN, CUTLASS
# and XLA give them.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check xprof==2.24.2
cat >bf16.py <<'PY'
import json, os
from xprof.convert import raw_to_tool_data
KERNELS = (8, b'cutlass_80_tensorop_fp16_s16816gemm_fp16_128x64'), (8, b'ampere_bf16_s16816gemm_bf16_128x128'), \
          (9, b'nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT'), (9, b'cudnn_generated_sdpa_sm90_flash_fprop_wgmma_bf16'), \
          (10, b'cutlass3x_sm100_tensorop_s256x256x16gemm_bf16_bf16_f32'), (9, b'gemm_fusion_dot_1')

def varint(value):
    out = b''
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])

def field(number, value):
    """A field of a protocol buffer: a whole number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

def named(at, number, name):
    return field(at, field(1, number) + field(2, field(1, number) + field(2, name)))

def tool(name):
    return json.loads(raw_to_tool_data.xspace_to_tool_data([os.path.abspath('gpu.xplane.pb')], name,
                                                           {'use_saved_result': False})[0])

def row(table, **wanted):
    names = [column['id'] for column in table['cols']]
    rows = [dict(zip(names, (cell.get('v') for cell in of['c']))) for of in table['rows']]
    return next(of for of in rows if all(of[name] == value for name, value in wanted.items()))

def shown(capability, kernel):
    texts = {3: b'jit(step)/dot_general:dot_general', 4: b'regs:32 grid:1,1,1 block:32,1,1'}
    known = b''.join(field(4, field(1, at) + field(5, text)) for at, text in texts.items())
    line = field(1, 7) + field(2, b'Stream #7(Compute)')
    host = field(1, 1) + field(2, b'python')
    for n in range(10):
        same = field(4, field(1, 5) + field(4, 1 + n))
        line += field(4, field(1, 1) + field(2, n * 10**9) + field(3, 9 * 10**8) + known + same)
        host += field(4, field(1, 1) + field(2, n * 10**9) + field(3, 10**8) +
                      b''.join(field(4, field(1, at) + field(4, value)) for at, value in ((1, 1), (2, n))))
        host += field(4, field(1, 2) + field(2, n * 10**9 + 10) + field(3, 10**6) +
                      field(4, field(1, 3) + field(4, 1 + n)))
    gpu = field(1, 1) + field(2, b'/device:GPU:0') + field(3, line) + named(4, 1, kernel)
    for at, name in enumerate((b'compute_cap_major', b'compute_cap_minor', b'tf_op', b'kernel_details',
                               b'correlation_id', b'device_vendor'), 1):
        gpu += named(5, at, name)
    for at, value in ((1, field(4, capability)), (2, field(4, 0)), (6, field(5, b'Nvidia'))):
        gpu += field(6, field(1, at) + value)
    cpu = field(1, 2) + field(2, b'/host:CPU') + field(3, host) + named(4, 1, b'train') + named(4, 2, b'cuLaunchKernel')
    for at, name in enumerate((b'_r', b'step_num', b'correlation_id'), 1):
        cpu += named(5, at, name)
    with open('gpu.xplane.pb', 'wb') as out:
        out.write(field(1, gpu) + field(1, cpu))
    of = row(tool('framework_op_stats')[0], type='dot_general')
    uses = row(tool('kernel_stats'))['is_kernel_using_tensor_core']
    share = tool('overview_page')[0]['p']['device_compute_16bit_percent']
    return share, uses, f"{of['gpu_tensorcore_utilization']:.0%}"

for of in KERNELS:
    print(of[1].decode().split('_')[0], *shown(*of))
PY
seen=$(env/bin/python bf16.py 2>/dev/null)
echo "$seen"
[[ $seen == "cutlass 100.0% True 100%
ampere 0.0% True 100%
nvjet 0.0% False 0%
cudnn 0.0% False 0%
cutlass3x 0.0% False 0%
gemm 0.0% False 0%" ]]
