import { readFileSync } from 'node:fs'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeText, isBinary, textDecoder } from './decode.ts'

const utf16 = (text: string, order: 'le' | 'be') => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('decoding', () => {
  it.each([
    ['a NUL', Buffer.from('line 1\na\0b\nline 3\n'), 'line 1\na\0b\nline 3\n'],
    ['an invalid byte', Buffer.from('line 1\nbad \xff byte\nline 3\n', 'latin1'), 'line 1\nbad \ufffd byte\nline 3\n'],
    ['a character cut in two', Buffer.from('caf\xc3', 'latin1'), 'caf\ufffd'],
    ['Latin-1', Buffer.from('Der Zähler läuft über\n'.repeat(20), 'latin1'), /Der Z\ufffdhler/],
    ['UTF-16LE', utf16('líne 🎉\n', 'le'), 'líne 🎉\n'],
    ['UTF-16BE', utf16('líne 🎉\n', 'be'), 'líne 🎉\n'],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffline\n'), 'line\n'],
    ['a run of NUL before a log', Buffer.concat([Buffer.alloc(100_000), Buffer.from('line\n')]), /\0line\n$/],
  ])('%s', (_, bytes, text) => {
    expect(isBinary(bytes)).toBe(false)
    if (typeof text === 'string') expect(decodeText(bytes)).toBe(text)
    else expect(decodeText(bytes)).toMatch(text)
  })

  it.each([1, 2, 3])('gives the same text in chunks of %i bytes', (size) => {
    for (const bytes of [utf16('a🎉漢\n', 'be'), Buffer.from('a🎉漢\xff\n'), Buffer.from('e🎉').subarray(0, 4)]) {
      const decode = textDecoder()
      let text = ''
      // The first chunk always includes the whole byte order mark.
      text += decode(bytes.subarray(0, 2))
      for (let at = 2; at < bytes.length; at += size) text += decode(bytes.subarray(at, at + size))
      expect(text + decode(new Uint8Array(), true)).toBe(decodeText(bytes))
    }
  })
})

it('detects programs, archives and random bytes as binary', () => {
  const random = Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7919 + at * at * 31) % 256)
  for (const bytes of [
    readFileSync(process.execPath).subarray(0, 100_000),
    gzipSync(random),
    deflateSync(random),
    random,
  ])
    expect(isBinary(bytes)).toBe(true)
})
