import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  crumbsOf,
  decodeName,
  isUtf8,
  nameRefusal,
  nameWords,
  parentOf,
  pathOfText,
  pathText,
  shellPath,
  shellWord,
  within,
} from './file-path.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)
const hostile = [
  'a b',
  '-rf',
  "it's",
  '"quoted"',
  'new\nline',
  'end\n',
  '$(id); `id`',
  'back\\slash',
  '\\xff',
  'ünï ☃ 😀',
  '*',
  '~root',
  '\udcff',
  'a\udc80\udcfeb',
]

describe('a name', () => {
  it('is its text when it is UTF-8, and keeps each byte that is not', () => {
    expect(decodeName(new TextEncoder().encode('ä😀'))).toBe('ä😀')
    expect(decodeName(bytes(0x61, 0xff, 0xc3, 0xa4, 0xc3))).toBe('a\udcffä\udcc3')
    // A surrogate in UTF-8 is none.
    expect(decodeName(bytes(0xed, 0xa0, 0x80))).toBe('\udced\udca0\udc80')
    expect([isUtf8('ä😀'), isUtf8('a\udcff')]).toEqual([true, false])
    expect(nameWords('a\udcff😀')).toBe('a\\xff😀')
  })

  it.each(hostile)('%j goes through an address and back', (name) => {
    const text = pathText(`/tmp/${name}`)
    expect(text.isWellFormed()).toBe(true)
    expect(pathOfText(decodeURIComponent(encodeURIComponent(text)))).toBe(`/tmp/${name}`)
  })

  it.each(['sh', 'bash'])('is one word of %s', (shell) => {
    for (const name of hostile) {
      const written = execFileSync(shell, ['-c', `printf '%s|' ${shellWord(name)}`], {
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      })
      expect(decodeName(written), name).toBe(`${name}|`)
    }
  })

  it('is refused when no file can have it', () => {
    expect(['', '.', '..', 'a/b', 'a\0'].map(nameRefusal)).not.toContain(null)
    expect(nameRefusal('ä'.repeat(128))).toBe('a name has at most 255 bytes; this one has 256')
    expect(['a', '...', '~', '-', 'ä'.repeat(127)].map(nameRefusal)).toEqual([null, null, null, null, null])
  })
})

describe('a path', () => {
  it('is read as the service reads it', () => {
    expect(['', '~', '~/a', 'a/~', '/a', "~'"].map(shellPath)).toEqual([
      '"$HOME"',
      '"$HOME"',
      `"$HOME"/'a'`,
      `"$HOME"/'a/~'`,
      "'/a'",
      `"$HOME"/'~'\\'''`,
    ])
  })

  it('has a folder above it, up to the root', () => {
    expect(['/a/b', '/a/b/', '/a', '/'].map(parentOf)).toEqual(['/a', '/a', '/', '/'])
    expect([within('/', 'a'), within('/a', 'b')]).toEqual(['/a', '/a/b'])
    expect(crumbsOf('/a/b').map(({ path }) => path)).toEqual(['/', '/a', '/a/b'])
    expect(['code/b', '~/code'].map((path) => crumbsOf(path).map((crumb) => crumb.path))).toEqual([
      ['~/code', '~/code/b'],
      ['~/code'],
    ])
    expect(crumbsOf('~')).toEqual([])
    expect(crumbsOf('/')).toEqual([{ name: '/', path: '/' }])
  })
})
