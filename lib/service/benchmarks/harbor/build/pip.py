# Replaces the package `pip` for every Python of a build, including virtual environments and `python -m pip`. Records
# skipped installs; any other command goes to the real package.
import os
import re
import sys

folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
program, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
command = next((each for each in arguments if not each.startswith("-")), "")
other_ways = ("-r", "-c", "-e", "-t", "--requirement", "--constraint", "--editable", "--target")


def is_installed():
    if command != "install" or any(each.startswith(other_ways) for each in arguments):
        return False
    try:
        from importlib.metadata import version

        named = [each for each in arguments if not each.startswith("-") and each != "install"]
        plain = [re.match(r"([\w.-]+)(?:==([\w.]+))?$", each) for each in named]
        return bool(plain) and all(each.group(2) in (None, version(each.group(1))) for each in plain)
    except Exception:  # Not installed, or not a plain name: a range or a URL.
        return False


if (program == "-m" or program.startswith("pip")) and command in ("install", "uninstall", "download"):
    call = " ".join(["pip"] + arguments)
    reason = ""
    if os.environ.get("DEVDECK_BUILD_TRIES"):
        import subprocess

        own = os.path.join(folder, "python")
        paths = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != own]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
        tried = subprocess.run([sys.executable, "-m", "pip"] + arguments, env=env, stderr=subprocess.PIPE)
        errors = tried.stderr.decode(errors="replace")
        sys.stderr.write(errors)
        if tried.returncode == 0:
            sys.exit(0)
        last = ([each for each in errors.split("\n") if each.strip()] or [""])[-1][:200]
        reason = " (exit code %d%s)" % (tried.returncode, last and ": " + last)
    sys.stderr.write("devdeck: skipped: %s\n" % call)
    line = os.environ.get("DEVDECK_DOCKERFILE_LINE")
    how = "skipped, already installed" if not reason and is_installed() else "skipped"
    with open(os.path.join(folder, "skipped"), "a") as skipped:
        skipped.write("Dockerfile line %s: %s: %s%s\n" % (line, how, call.replace("\n", " "), reason))
    sys.exit(0)
sys.path.remove(os.path.join(folder, "python"))
del sys.modules["pip"]
import pip  # noqa: E402, F401
