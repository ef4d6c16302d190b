# The package `pip` of every Python that a build runs: pips of virtual environments, called by their paths, and
# `python -m pip` come by here. Installs are skipped and noted; for anything else the real package takes its place.
import os
import sys

folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
program, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
command = next((each for each in arguments if not each.startswith("-")), "")
if (program == "-m" or program.startswith("pip")) and command in ("install", "uninstall", "download"):
    call = " ".join(["pip"] + arguments)
    sys.stderr.write("devdeck: skipped: %s\n" % call)
    line = os.environ.get("DEVDECK_DOCKERFILE_LINE")
    with open(os.path.join(folder, "skipped"), "a") as skipped:
        skipped.write("Dockerfile line %s: skipped: %s\n" % (line, call.replace("\n", " ")))
    sys.exit(0)
sys.path.remove(os.path.join(folder, "python"))
del sys.modules["pip"]
import pip  # noqa: E402, F401
