# Read by every Python of a trial at its start. Notes each package of this machine's Python that code of the task or the
# agent imports although nothing has installed it: an image of a bare system or language has none.
import os
import re
import sys

place = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ofImages = ("pip", "setuptools", "wheel", "pkg_resources", "distutils", "_distutils_hack")


def lines(name):
    with open(os.path.join(place, name)) as file:
        return file.read().split("\n")


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# Whether installs bring a package: by its name, as one that another needs, or in a list that is not looked into.
def is_brought(name, calls):
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
        each = plain(named.pop())
        if each in seen:
            continue
        seen.add(each)
        try:
            named += [re.split(r"[^\w.-]", need)[0] for need in metadata.requires(each) or []]
        except (metadata.PackageNotFoundError, ValueError):
            continue
    return any(plain(each) in seen for each in metadata.packages_distributions().get(name, [name]))


# Who imports: code of a library is no matter, as it does without or comes with what it needs.
def is_own(frame):
    while frame and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    file = frame.f_code.co_filename if frame else "<frozen"
    agent = os.environ.get("HARBOR_AGENT_FOLDER")
    if agent and file.startswith(agent + "/"):
        return False
    return not re.match(r"<frozen|.*/(site|dist)-packages/|.*/lib/python\d[\d.]*/[^/]+\.py$|.*/lib/python\d[\d.]*/\w+/", file)


def look(name, frame):
    from importlib.machinery import PathFinder

    if name in ofImages or not is_own(frame):
        return
    spec = PathFinder.find_spec(name)
    origin = spec and (spec.origin or next(iter(spec.submodule_search_locations or []), None))
    sites = [each for each in lines("sites") if each]
    if not origin or "-packages/" not in origin or not any(origin.startswith(each) for each in sites):
        return
    noted, installs = lines("noted"), lines("installs")
    if is_brought(name, installs):
        return
    calls = [line[5:] for line in noted if line.startswith("call ")]
    said = "%s %s" % ("late" if is_brought(name, calls) else "module", name)
    if said not in noted:
        with open(os.path.join(place, "noted"), "a") as file:
            file.write(said + "\n")


class Finder:
    busy = False

    def find_spec(self, name, path=None, target=None):
        if path is None and not self.busy:
            self.busy = True
            try:
                look(name, sys._getframe(1))
            except Exception:  # What cannot be looked at is imported all the same.
                pass
            finally:
                self.busy = False
        return None


# Older ones cannot tell which package a module is of.
if sys.version_info >= (3, 10):
    sys.meta_path.insert(0, Finder())
