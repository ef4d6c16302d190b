import { expect, it } from 'vitest'
import { seccompFilter } from './seccomp.ts'

/** Evaluates the filter for one call, as the kernel does. */
const verdict = (filter: Buffer, call: { machine: number; number: number; arguments?: number[] }) => {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number, 0)
  data.writeUInt32LE(call.machine, 4)
  for (const [i, value] of (call.arguments ?? []).entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * i)
  let loaded = 0
  for (let at = 0; at < filter.length; at += 8) {
    const [code, then, otherwise] = [filter.readUInt16LE(at), filter.readUInt8(at + 2), filter.readUInt8(at + 3)]
    const value = filter.readUInt32LE(at + 4)
    if (code === 0x06) return value
    if (code === 0x20) loaded = data.readUInt32LE(value)
    else {
      const holds = { 21: loaded === value, 53: loaded >= value, 69: (loaded & value) !== 0 }[code]
      if (holds === undefined) throw new Error(`Instruction ${code} is not used`)
      at += 8 * (holds ? then : otherwise)
    }
  }
  throw new Error('The filter does not return')
}

const allowed = 0x7fff0000
const blocked = (errno: number) => 0x00050000 | errno
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97]

it.each([
  ['x64', 0xc000003e, { read: 0, mount: 165, keyctl: 250, clone: 56, ioctl: 16, personality: 135, socket: 41 }],
  ['arm64', 0xc00000b7, { read: 63, mount: 40, keyctl: 219, clone: 220, ioctl: 29, personality: 92, socket: 198 }],
] as const)('allows and blocks the call numbers of %s', (name, machine, numbers) => {
  const filter = seccompFilter(name)
  if (!filter) throw new Error('No filter')
  const run = (number: number, ...args: number[]) => verdict(filter, { machine, number, arguments: args })
  expect(run(numbers.read)).toBe(allowed)
  expect(run(999)).toBe(allowed)
  expect([run(numbers.mount), run(numbers.keyctl)]).toEqual([blocked(EPERM), blocked(EPERM)])
  expect([run(435), run(425)]).toEqual([blocked(ENOSYS), blocked(ENOSYS)])
  expect([run(numbers.clone, 0x1200011), run(numbers.clone, 0x10000011)]).toEqual([allowed, blocked(EPERM)])
  expect([run(numbers.ioctl, 0, 0x5413), run(numbers.ioctl, 0, 0x5412)]).toEqual([allowed, blocked(EPERM)])
  expect(run(numbers.ioctl, 0, 0x7_0000_5412)).toBe(blocked(EPERM))
  expect([run(numbers.personality, 0), run(numbers.personality, 0x400000)]).toEqual([allowed, blocked(EPERM)])
  expect([run(numbers.socket, 2), run(numbers.socket, 40)]).toEqual([allowed, blocked(EAFNOSUPPORT)])
  expect(verdict(filter, { machine: 0x40000003, number: 0 })).toBe(blocked(ENOSYS))
})

it('blocks the x32 interface', () => {
  const filter = seccompFilter('x64') ?? Buffer.alloc(0)
  expect(verdict(filter, { machine: 0xc000003e, number: 0x40000000 })).toBe(blocked(ENOSYS))
})

it('is undefined for other architectures', () => {
  expect(seccompFilter('s390x')).toBeUndefined()
})
