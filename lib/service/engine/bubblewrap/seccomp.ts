export const seccompFilter = (machine: string = process.arch): Buffer | undefined => {
  const column = { x64: 0, arm64: 1 }[machine]
  if (column === undefined) return undefined
  const numberOf = (name: keyof typeof calls): number | undefined => calls[name][column]
  const program: Instruction[] = [
    load(architectureAt),
    // Other architectures, such as 32-bit x86, have different call numbers; reject them all.
    { code: isEqual, value: architectures[column] ?? 0, whenTrue: 1 },
    refuse(ENOSYS),
    load(numberAt),
    ...(machine === 'x64' ? when(isAtLeast, x32, [refuse(ENOSYS)]) : []),
  ]
  for (const [errno, names] of refused)
    for (const name of names) {
      const number = numberOf(name)
      if (number !== undefined) program.push(...when(isEqual, number, [refuse(errno)]))
    }
  const onCall = (name: keyof typeof calls, body: Instruction[]) => when(isEqual, numberOf(name) ?? 0, body)
  program.push(
    ...onCall('clone', [load(argumentAt(0)), ...when(hasAny, newNamespaces, [refuse(EPERM)]), allow]),
    ...onCall('ioctl', [
      load(argumentAt(1)),
      ...terminalInput.flatMap((request) => when(isEqual, request, [refuse(EPERM)])),
      allow,
    ]),
    ...onCall('personality', [
      load(argumentAt(0)),
      ...personalities.flatMap((value) => when(isEqual, value, [allow])),
      refuse(EPERM),
    ]),
    ...onCall('socket', [
      load(argumentAt(0)),
      ...socketFamilies.flatMap((family) => when(isEqual, family, [allow])),
      refuse(EAFNOSUPPORT),
    ]),
    allow,
  )
  return Buffer.concat(program.map(bytesOf))
}

/** Numbers of the calls that the Perl scripts make, in their order. */
export const callNumbers = (): string => {
  const column = process.arch === 'arm64' ? 1 : 0
  return callsOfScripts.map((name) => calls[name][column]).join(',')
}
const callsOfScripts = [
  ...(['setns', 'unshare', 'mount', 'prctl', 'setgroups', 'setresgid', 'setresuid', 'setsid', 'seccomp'] as const),
  ...(['prlimit64', 'close', 'setfsuid', 'setfsgid', 'open_tree', 'mount_setattr', 'move_mount'] as const),
]

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

const calls = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  unshare: [272, 97],
  setns: [308, 268],
  clone: [56, 220],
  clone3: [435, 435],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_by_handle_at: [304, 265],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  vhangup: [153, 58],
  iopl: [172],
  ioperm: [173],
  uselib: [134],
  personality: [135, 92],
  ioctl: [16, 29],
  socket: [41, 198],
  prctl: [157, 167],
  setgroups: [116, 159],
  setresgid: [119, 149],
  setresuid: [117, 147],
  setsid: [112, 157],
  seccomp: [317, 277],
  prlimit64: [302, 261],
  close: [3, 57],
  setfsuid: [122, 151],
  setfsgid: [123, 152],
} as const satisfies Record<string, readonly [number] | readonly [number, number]>

const refused: readonly [errno: number, readonly (keyof typeof calls)[]][] = [
  [EPERM, ['mount', 'umount2', 'pivot_root', 'open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick']],
  [EPERM, ['mount_setattr', 'open_tree_attr', 'unshare', 'setns']],
  // Its flags are behind a pointer that the filter can't read; libc falls back to `clone`.
  [ENOSYS, ['clone3']],
  // Kernel keyrings belong to a host user, regardless of namespaces.
  [EPERM, ['add_key', 'request_key', 'keyctl']],
  // Large attack surface that no build or test needs. Programs work without io_uring.
  [EPERM, ['bpf', 'perf_event_open', 'userfaultfd']],
  [ENOSYS, ['io_uring_setup', 'io_uring_enter', 'io_uring_register']],
  // Opens files by handle, bypassing folder permissions.
  [EPERM, ['open_by_handle_at']],
  [EPERM, ['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'swapon', 'swapoff']],
  [EPERM, ['reboot', 'acct', 'quotactl', 'quotactl_fd', 'syslog', 'lookup_dcookie', 'nfsservctl', 'settimeofday']],
  [EPERM, ['clock_settime', 'vhangup', 'iopl', 'ioperm', 'uselib']],
]

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const newNamespaces = 0x7e020000
/** TIOCSTI and TIOCLINUX inject input into a terminal. */
const terminalInput = [0x5412, 0x541c]
const personalities = [0, 8, 0x20000, 0x20008, 0x40000, 0xffffffff]
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. AF_VSOCK isn't namespaced and would bypass the devbox's network. */
const socketFamilies = [1, 2, 10, 16]

const architectures = [0xc000003e, 0xc00000b7]
const x32 = 0x40000000

// Offsets in `struct seccomp_data`. Arguments: the lower half, which is all the kernel reads for these.
const numberAt = 0
const architectureAt = 4
const argumentAt = (i: number) => 16 + 8 * i

interface Instruction {
  code: number
  whenTrue?: number
  whenFalse?: number
  value: number
}

const isEqual = 0x15
const isAtLeast = 0x35
const hasAny = 0x45

const load = (offset: number): Instruction => ({ code: 0x20, value: offset })
const refuse = (errno: number): Instruction => ({ code: 0x06, value: 0x00050000 | errno })
const allow: Instruction = { code: 0x06, value: 0x7fff0000 }

const when = (code: number, value: number, body: Instruction[]): Instruction[] => [
  { code, value, whenFalse: body.length },
  ...body,
]

const bytesOf = ({ code, whenTrue = 0, whenFalse = 0, value }: Instruction): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(whenTrue, 2)
  bytes.writeUInt8(whenFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
