import { readFileSync } from 'node:fs'

/** The numbers that the kernel gives capabilities. */
const numbers = { CHOWN: 0, DAC_OVERRIDE: 1, SETGID: 6, SETUID: 7, SYS_CHROOT: 18, SYS_ADMIN: 21 }

export const isRoot = process.getuid?.() === 0

/** Whether this process has all of these capabilities in effect. */
export const hasCapabilities = (...names: (keyof typeof numbers)[]): boolean => {
  const status = readFileSync('/proc/self/status', 'utf8')
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  return names.every((name) => (effective & (1n << BigInt(numbers[name]))) !== 0n)
}

/** In a container root may be without the right to make namespaces, and then does as any user. */
export const isPrivileged = isRoot && hasCapabilities('SYS_ADMIN')
