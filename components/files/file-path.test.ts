import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { decodePath, displayName, encodePath } from '#lib/browser/address/encode-path.ts'
import { quotePath, shellQuote } from '#lib/protocol/shell-words.ts'
import { breadcrumbs, decodeName, isUtf8, joinPath, nameProblem, parentPath, resolvePath } from './file-path.ts'

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

describe('a file name', () => {
  it('decodes UTF-8 and keeps every other byte', () => {
    expect(decodeName(new TextEncoder().encode('ä😀'))).toBe('ä😀')
    expect(decodeName(bytes(0x61, 0xff, 0xc3, 0xa4, 0xc3))).toBe('a\udcffä\udcc3')
    // A surrogate encoded in UTF-8 is invalid.
    expect(decodeName(bytes(0xed, 0xa0, 0x80))).toBe('\udced\udca0\udc80')
    expect([isUtf8('ä😀'), isUtf8('a\udcff')]).toEqual([true, false])
    expect(displayName('a\udcff😀')).toBe('a\\xff😀')
  })

  it.each(hostile)('%j round-trips through a URL', (name) => {
    const text = encodePath(`/tmp/${name}`)
    expect(text.isWellFormed()).toBe(true)
    expect(decodePath(decodeURIComponent(encodeURIComponent(text)))).toBe(`/tmp/${name}`)
  })

  it.each(['sh', 'bash'])('is one word in %s', (shell) => {
    for (const name of hostile) {
      const written = execFileSync(shell, ['-c', `printf '%s|' ${shellQuote(name)}`], {
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      })
      expect(decodeName(written), name).toBe(`${name}|`)
    }
  })

  it('is rejected when invalid', () => {
    expect(['', '.', '..', 'a/b', 'a\0'].map(nameProblem)).not.toContain(null)
    expect(nameProblem('ä'.repeat(128))).toBe('names are limited to 255 bytes; this one has 256')
    expect(['a', '...', '~', '-', 'ä'.repeat(127)].map(nameProblem)).toEqual([null, null, null, null, null])
  })
})

describe('a path', () => {
  it('resolves links relative to a folder', () => {
    expect([
      resolvePath('/srv/docs', '../src/a.ts'),
      resolvePath('/srv', './b/'),
      resolvePath('/srv', '/etc/hosts'),
      resolvePath('/srv', '../../../x'),
      resolvePath('~/docs', '../x'),
    ]).toEqual(['/srv/src/a.ts', '/srv/b/', '/etc/hosts', '/x', '~/x'])
  })

  it('is quoted as the service resolves it', () => {
    expect(['', '~', '~/a', 'a/~', '/a', "~'"].map(quotePath)).toEqual([
      '"$HOME"',
      '"$HOME"',
      `"$HOME"/'a'`,
      `"$HOME"/'a/~'`,
      "'/a'",
      `"$HOME"/'~'\\'''`,
    ])
  })

  it('has parents up to the root', () => {
    expect(['/a/b', '/a/b/', '/a', '/'].map(parentPath)).toEqual(['/a', '/a', '/', '/'])
    expect([joinPath('/', 'a'), joinPath('/a', 'b')]).toEqual(['/a', '/a/b'])
    expect(breadcrumbs('/a/b').map(({ path }) => path)).toEqual(['/', '/a', '/a/b'])
    expect(['code/b', '~/code'].map((path) => breadcrumbs(path).map((crumb) => crumb.path))).toEqual([
      ['~/code', '~/code/b'],
      ['~/code'],
    ])
    expect(breadcrumbs('~')).toEqual([])
    expect(breadcrumbs('/')).toEqual([{ name: '/', path: '/' }])
  })
})
