#!/usr/bin/env bash
# Run the golden hashes and the tests of the core on AArch64: a wheel from the sdist, cross-compiled, under emulation.
#
# Needs `make check`'s environment with Python 3.11, the Debian packages debootstrap, gcc-aarch64-linux-gnu and
# qemu-user-static, and root, for debootstrap. Takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$PWD/.venv/bin/python
work=$PWD/build/aarch64
debian=$work/debian # Debian 12, whose Python is 3.11: unpacked only, nothing of it is installed
rm -rf "$work"
mkdir -p "$work/sysconfig"

debootstrap --arch=arm64 --variant=minbase --download-only --include=python3.11,libpython3.11-dev bookworm "$work/packages"
for package in "$work"/packages/var/cache/apt/archives/*.deb; do
    dpkg --extract "$package" "$debian"
done

# Python here tells setuptools what Python there would: its compiler, flags and the names of modules.
cp "$debian"/usr/lib/python3.11/_sysconfigdata__aarch64-linux-gnu.py "$work/sysconfig"
env _PYTHON_HOST_PLATFORM=linux-aarch64 _PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata__aarch64-linux-gnu \
    PYTHONPATH="$work/sysconfig" CPATH="$debian/usr/include/python3.11:$debian/usr/include" \
    "$python" -m build --no-isolation --skip-dependency-check --outdir "$work/dist"

wheel=$(echo "$work"/dist/*-linux_aarch64.whl)
"$python" -m pip install --quiet --target "$work/site" --only-binary=:all: --implementation cp --python-version 3.11 \
    --platform linux_aarch64 --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 "$wheel[core-tests]"

mkdir "$work/tests"
cp -r tests tools cython_core pyproject.toml "$work/tests" # and no opensearch_winnow: that is in the wheel
cd "$work/tests"
PYTHONPATH=$work/site exec qemu-aarch64-static -L "$debian" "$debian/usr/bin/python3.11" \
    -m pytest -p no:cacheprovider tests/test_golden.py tests/cython_core
