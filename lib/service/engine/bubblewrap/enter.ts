import { fileURLToPath } from 'node:url'
import { baseEnvironment, type Command, type Launch, markers, type SandboxSpec, userOf } from '../engine.ts'
import type { Outbound } from '../network/ground.ts'
import { homeOf, tmp } from './arguments.ts'
import { isPrivileged } from './privileges.ts'
import { callNumbers, seccompFilter } from './seccomp.ts'

export const nsenter = '/usr/bin/nsenter'
export const perl = '/usr/bin/perl'
const enterScript = fileURLToPath(new URL('./enter.pl', import.meta.url))

// What starts a command runs outside the devbox at first and must not get the devbox's variables there.
const prefix = 'DEVDECK_SET_'

export interface Namespaces {
  holder: number
  init: number
  hasOwnUser: boolean
}

// Every mount of the sandbox is nosuid, and none can be made without a user namespace: no file gives further rights.
export const enter = (
  spec: SandboxSpec,
  { holder, init, hasOwnUser }: Namespaces,
  outbound: Outbound['environment'],
  { argv, env, tty }: Command,
): Launch => {
  const all = { ...baseEnvironment(spec, { home: homeOf(spec), tmp }), ...outbound, ...env }
  return {
    limitsItself: true,
    file: perl,
    args: [
      ...['-f', enterScript, callNumbers(), seccompFilter()?.toString('hex') ?? ''],
      ...[
        hasOwnUser ? String(userOf(spec).uid) : '',
        spec.system ? rightsOfRoot.join(',') : '',
        isPrivileged ? '' : String(holder),
        String(init),
      ],
      // The user namespace last: the others belong to those above it. An ordinary user comes through it to the others.
      spec.system && !hasOwnUser ? 'net,ipc,uts,pid,mnt' : 'net,ipc,uts,pid,mnt,user',
      tty ?? '',
      ...argv,
    ],
    env: {
      PATH: '/usr/bin:/bin',
      ...markers(spec),
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value])),
    },
    cwd: '/',
  }
}

// What an image's root has by default, but for making devices and raw packets: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL,
// SETGID, SETUID, SETPCAP, NET_BIND_SERVICE and SYS_CHROOT, over what is the devbox's own alone.
const rightsOfRoot = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18]

/** A command of the service's own, on the devbox's network and otherwise outside of it. */
export const enterNetwork = (spec: SandboxSpec, namespaces: Namespaces, argv: readonly string[]): Launch => ({
  file: nsenter,
  args: [...throughHolder(namespaces), '-t', String(namespaces.init), '-n', '--', ...argv],
  env: { PATH: '/usr/bin:/bin', ...markers(spec) },
  cwd: '/',
})

export const throughHolder = ({ holder }: Namespaces) =>
  isPrivileged ? [] : [`--user=/proc/${holder}/ns/user`, '--preserve-credentials', '--', nsenter]
