import { crc32, deflateRawSync } from 'node:zlib'

export interface RawEntry {
  name: string
  content?: Buffer
  /** Overrides the true values in the directory. */
  claims?: { size?: number; packed?: number; sum?: number; method?: number; flags?: number; mode?: number; at?: number }
}

/** A zip with a directory that a test can falsify. */
export const rawZip = (entries: readonly RawEntry[], { count = entries.length } = {}): Buffer => {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content = Buffer.from(name), claims = {} } of entries) {
    const packed = deflateRawSync(content)
    const { size = content.length, sum = crc32(content), method = 8, flags = 0x800, mode = 0o100644 } = claims
    const nameBytes = Buffer.from(name)
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(flags, 2)
    shared.writeUInt16LE(method, 4)
    shared.writeUInt16LE(0x21, 8)
    shared.writeUInt32LE(sum, 10)
    shared.writeUInt32LE(claims.packed ?? packed.length, 14)
    shared.writeUInt32LE(size, 18)
    shared.writeUInt16LE(nameBytes.length, 22)
    bodies.push(Buffer.from('PK\x03\x04', 'latin1'), shared, nameBytes, packed)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(mode * 65_536, 6)
    rest.writeUInt32LE(claims.at ?? at, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), shared, rest, nameBytes)
    at += 30 + nameBytes.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, listed, end])
}
