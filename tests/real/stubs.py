"""Lets a PyTorch wheel built for CUDA run on a CPU without the gigabytes of CUDA's libraries:
stubs.py SITE_PACKAGES [CC].

CUDA's runtime and CUPTI are small and real (nvidia-cuda-runtime, nvidia-cuda-cupti). For all other
libraries that the wheel is linked with, a library of the same name has each required function,
which returns an error. They are not called without a GPU.
"""
import collections
import glob
import os
import re
import subprocess
import sys


def read(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(site, cc='cc'):
    torch = os.path.join(site, 'torch', 'lib')
    real = glob.glob(os.path.join(site, 'nvidia', '*', 'lib', '*.so*'))
    needed, known, wanted, files = set(), set(), set(), {}
    for path in [*real, *glob.glob(f'{torch}/*.so*')]:
        for line in read('nm', '-D', path).splitlines():
            kind, name = line.split()[-2:]
            (wanted if kind == 'U' else known).add(name if kind == 'U' else name.split('@')[0])
        if path not in real:
            needed |= set(re.findall(r'\(NEEDED\).*\[(lib(?:cu|nccl|nv).*)\]',
                                     read('readelf', '-d', path)))
            for line in read('readelf', '-V', path).splitlines():  # each file, then its versions
                file = re.search(r'File: (\S+)', line)
                name = re.search(r'  Name: (\S+)', line)
                last = file[1] if file else None if not name else last
                if name:
                    files[name[1]] = last
    for path in real:
        if not os.path.lexists(f'{torch}/{os.path.basename(path)}'):
            os.symlink(os.path.abspath(path), f'{torch}/{os.path.basename(path)}')
    needed = sorted(name for name in needed if not os.path.lexists(f'{torch}/{name}'))
    functions = collections.defaultdict(set)  # by library and version
    for name, _, version in (name.partition('@') for name in wanted):
        file = files.get(version, needed[0])
        if name not in known and file in needed and name.startswith(('cu', 'nccl', 'pnccl', 'nv')):
            functions[file, version].add(name)
    for library in needed:
        made, versions = os.path.join(torch, library), ''
        with open('stubs.c', 'w', encoding='utf-8') as out:
            for (file, version), names in sorted(functions.items()):
                if file == library:
                    out.writelines(f'int {name}(void) {{ return 100; }}\n' for name in sorted(names))
                    versions += f'{version} {{ {"".join(name + "; " for name in names)}}};\n' * bool(version)
        with open('stubs.map', 'w', encoding='utf-8') as out:
            out.write(versions)
        script = ['-Wl,--version-script=stubs.map'] * bool(versions)
        subprocess.run([cc, '-w', '-shared', '-fPIC', '-o', made, 'stubs.c', f'-Wl,-soname={library}',
                        *script], check=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
