import { readProc } from '#lib/service/kit/proc.ts'
import type { BoxSpec } from '../box.ts'
import { isPrivileged } from '../bubblewrap/users.ts'
import { proxyPort, runIp } from '../network/outbound.ts'
import { blockedIpv4 } from '../network/rules.ts'

interface Target {
  pid: number
  containerId: string
  gateway: string | undefined
}

/**
 * Blocks packets of a container that its policy doesn't allow. Its processes can't undo it, and binding to an interface
 * doesn't bypass it, as it would routes. False if it isn't possible on this host.
 */
export const restrictNetwork = async (
  { network, privateNetwork }: Pick<BoxSpec, 'network' | 'privateNetwork'>,
  { pid, containerId, gateway }: Target,
): Promise<boolean> => {
  // An engine in a virtual machine has other process ids.
  if (!isPrivileged || !readProc(pid, 'cgroup')?.includes(containerId)) return false
  const allowed =
    network === 'public'
      ? ['proto udp dport 53', 'proto tcp dport 53']
      : [`dst ${gateway} proto tcp dport ${proxyPort}`]
  const blocked = network === 'public' ? blockedIpv4({ privateNetwork }) : ['0.0.0.0/0']
  const batch = [
    ...allowed.map((selector) => `xfrm policy update ${selector} dir out priority 1 action allow`),
    ...blocked.map((addresses) => `xfrm policy update dst ${addresses} dir out priority 2 action block`),
  ]
  const inNetwork = (argv: readonly string[]) => {
    return { file: '/usr/bin/nsenter', args: ['-t', `${pid}`, '-n', '--', ...argv], env: {}, cwd: '/' }
  }
  return runIp(inNetwork, `${batch.join('\n')}\n`).then(
    () => true,
    () => false,
  )
}
