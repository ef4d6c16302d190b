"""Tries to reach the targets given on stdin and prints a JSON list of those that did not refuse."""
import errno, json, os, re, socket, sys

targets = json.load(sys.stdin)
reached = []
REFUSED = {errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EINVAL, errno.EADDRNOTAVAIL, errno.EACCES}


def attempt(what, call):
    try:
        call()
        reached.append(what)
    except socket.gaierror:
        pass
    except OSError as error:
        if error.errno not in REFUSED:
            reached.append(f"{what}: {error}")


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def connect(address, port):
    with socket.socket(family(address), socket.SOCK_STREAM) as s:
        s.settimeout(10)
        s.connect((address, port))


def send(address, port, interface):
    """Sends a datagram, which the test receives if it arrives. Binding to an interface bypasses routes."""
    try:
        with socket.socket(family(address), socket.SOCK_DGRAM) as s:
            if interface:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
            s.sendto(f"{targets['word']} {address} {interface}".encode(), (address, port))
    except OSError:
        pass


def ask_proxy(proxy, line):
    with socket.create_connection(proxy, 10) as s:
        s.settimeout(30)
        s.sendall(f"{line} HTTP/1.1\r\nHost: allowed.example\r\n\r\n".encode())
        answer = s.recv(4096).split(b"\r\n")[0].decode()
    if not re.match(r"HTTP/1.1 40[03] ", answer):
        reached.append(f"{line} by the proxy: {answer}")


def abstract(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(b"\0" + name.encode())


def read(path):
    if os.path.isdir(path):
        return os.listdir(path)
    with open(path, "rb") as file:
        return file.read()


proxy = re.search(r"//([^/:]+):(\d+)", os.environ.get("HTTP_PROXY", ""))
for address in targets["addresses"]:
    for port in targets["ports"]:
        attempt(f"{address} {port}", lambda: connect(address, port))
        if proxy:
            target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
            for line in (f"CONNECT {target}", f"GET http://{target}/"):
                ask_proxy((proxy[1], int(proxy[2])), line)

    for interface in ["", *(name for _, name in socket.if_nameindex())]:
        send(address, targets["datagrams"], interface)

for name in targets["abstract"]:
    attempt(f"abstract socket {name}", lambda: abstract(name))

for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("cmdline", "environ"):
        try:
            words = read(f"/proc/{pid}/{name}").decode(errors="replace")
        except OSError:
            continue
        reached += [f"/proc {name} of {marker}" for marker in targets["markers"] if marker in words]
    for path in targets["files"]:
        try:
            read(f"/proc/{pid}/root{path}")
            reached.append(path)
        except OSError:
            pass

print(json.dumps(sorted(set(reached))))
