"""Builds the wheel of `pip install .` with CMake. Needs nothing but Python, so that it works without a network.

HEWN_CMAKE_ARGS has options for CMake, such as -DHEWN_CUDA=ON.
"""

import base64
import hashlib
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r'kVersion = "(.*?)"', (ROOT / "hewn/core/version.h").read_text()).group(1)
METADATA = f"Metadata-Version: 2.1\nName: hewn\nVersion: {VERSION}\nSummary: Block-sparse neural networks that run faster\n"


def get_requires_for_build_wheel(config_settings=None):
    return []


def _torch_prefix():
    """Where CMake finds the LibTorch of this Python. pip hides what is installed from us, but not from a child."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    code = "import torch; print(torch.utils.cmake_prefix_path)"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"hewn: {sys.executable} has no torch, which the package is built for; see docs/python.md")
    return done.stdout.strip()


def _build(staging):
    build = ROOT / "build" / f"wheel-{sysconfig.get_config_var('SOABI')}"
    generator = [] if (build / "CMakeCache.txt").exists() else ["-G", "Ninja"]
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DHEWN_PYTHON=ON",
         "-DHEWN_CLI=OFF", "-DHEWN_TESTS=OFF", "-DHEWN_WEB=OFF", "-DHEWN_PCH=OFF",
         f"-DPython3_EXECUTABLE={sys.executable}", f"-DCMAKE_PREFIX_PATH={_torch_prefix()}",
         *shlex.split(os.environ.get("HEWN_CMAKE_ARGS", ""))], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "hewn_python"], check=True)
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", staging, "--strip"], check=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    staging = ROOT / "build" / "wheel-staging"
    subprocess.run(["cmake", "-E", "rm", "-rf", staging], check=True)
    _build(staging)
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"{python}-{python}-{platform}"
    name = f"hewn-{VERSION}-{tag}.whl"
    info = f"hewn-{VERSION}.dist-info"
    files = {str(path.relative_to(staging)): path.read_bytes() for path in sorted(staging.rglob("*")) if path.is_file()}
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: hewn\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return name
