import { crc32, inflateRawSync } from 'node:zlib'

interface ReadEntry {
  name: string
  modifiedMs: number
  content: Buffer
}

/** The entries of a zip as its directory lists them. Throws when the directory, a local header or a sum is not right. */
export const readZip = (bytes: Buffer): ReadEntry[] => {
  const end = bytes.length - 22
  expectSignature(bytes, end, 0x06054b50)
  let count = bytes.readUInt16LE(end + 10)
  let at = bytes.readUInt32LE(end + 16)
  if (count === 0xffff || at === 0xffffffff) {
    expectSignature(bytes, end - 20, 0x07064b50)
    const large = Number(bytes.readBigUInt64LE(end - 12))
    expectSignature(bytes, large, 0x06064b50)
    count = Number(bytes.readBigUInt64LE(large + 32))
    at = Number(bytes.readBigUInt64LE(large + 48))
  }
  const entries: ReadEntry[] = []
  for (let i = 0; i < count; i++) {
    expectSignature(bytes, at, 0x02014b50)
    const [crc, compressed, size, position] = [16, 20, 24, 42].map((field) => bytes.readUInt32LE(at + field)) as [
      number,
      number,
      number,
      number,
    ]
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, nameEnd)
    expectSignature(bytes, position, 0x04034b50)
    const localName = bytes.toString('utf8', position + 30, position + 30 + bytes.readUInt16LE(position + 26))
    if (localName !== name) throw new Error(`${name} is ${localName} where its data is`)
    const data = position + 30 + bytes.readUInt16LE(position + 26) + bytes.readUInt16LE(position + 28)
    const content = inflateRawSync(bytes.subarray(data, data + compressed))
    if (content.length !== size || crc32(content) !== crc) throw new Error(`${name} is not what its sums say`)
    // The field with the exact time comes first among the extra ones.
    entries.push({ name, modifiedMs: bytes.readInt32LE(nameEnd + 5) * 1000, content })
    at = nameEnd + bytes.readUInt16LE(at + 30)
  }
  return entries
}

const expectSignature = (bytes: Buffer, at: number, signature: number) => {
  if (bytes.readUInt32LE(at) !== signature) throw new Error(`There is no ${signature.toString(16)} at ${at}`)
}
