# Loaded by every Python of a trial. Records each package of this machine that code of the task or agent imports although
# nothing installed it: a plain image does not have it.
import os
import re
import sys

folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
in_images = ("pip", "setuptools", "wheel", "pkg_resources", "distutils", "_distutils_hack")


def lines(name):
    with open(os.path.join(folder, name)) as file:
        return file.read().split("\n")


def normalized(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# By name, as a dependency, or from a requirements list that is not read.
def is_installed(name, calls):
    from importlib import metadata

    named = []
    for call in calls:
        if not re.search(r"\b(install|add|sync)\b", call):
            continue
        if re.match(r"apt", call):
            if "python3-" in call:
                return True
        elif re.search(r"\s(-r|--requirement|-e|--editable|--group)\b|\s\.|/|\bsync\b|poetry|conda|mamba", call):
            return True
        else:
            named += [re.split(r"[^\w.-]", word)[0] for word in call.replace('"', " ").replace("'", " ").split()]
    seen = set()
    while named:
        each = normalized(named.pop())
        if each in seen:
            continue
        seen.add(each)
        try:
            named += [re.split(r"[^\w.-]", need)[0] for need in metadata.requires(each) or []]
        except (metadata.PackageNotFoundError, ValueError):
            continue
    return any(normalized(each) in seen for each in metadata.packages_distributions().get(name, [name]))


# Libraries work without optional packages or come with what they need, so their imports do not count.
def is_task_code(frame):
    while frame and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    file = frame.f_code.co_filename if frame else "<frozen"
    agent = os.environ.get("HARBOR_AGENT_FOLDER")
    if agent and file.startswith(agent + "/"):
        return False
    return not re.match(r"<frozen|.*/(site|dist)-packages/|.*/lib/python\d[\d.]*/[^/]+\.py$|.*/lib/python\d[\d.]*/\w+/", file)


def check(name, frame):
    from importlib.machinery import PathFinder

    if name in in_images or not is_task_code(frame):
        return
    spec = PathFinder.find_spec(name)
    origin = spec and (spec.origin or next(iter(spec.submodule_search_locations or []), None))
    sites = [each for each in lines("sites") if each]
    if not origin or "-packages/" not in origin or not any(origin.startswith(each) for each in sites):
        return
    used, installs = lines("used"), lines("installs")
    if is_installed(name, installs):
        return
    calls = [line[5:] for line in used if line.startswith("call ")]
    record = "%s %s" % ("late" if is_installed(name, calls) else "module", name)
    if record not in used:
        with open(os.path.join(folder, "used"), "a") as file:
            file.write(record + "\n")


class Finder:
    busy = False

    def find_spec(self, name, path=None, target=None):
        if path is None and not self.busy:
            self.busy = True
            try:
                check(name, sys._getframe(1))
            except Exception:  # The import must not fail because of us.
                pass
            finally:
                self.busy = False
        return None


# Needs importlib.metadata.packages_distributions.
if sys.version_info >= (3, 10):
    sys.meta_path.insert(0, Finder())
