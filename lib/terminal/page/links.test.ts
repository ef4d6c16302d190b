import { describe, expect, it } from 'vitest'
import { addressParts, fileInDevbox, findLinks, otherAddress } from './links.ts'

const shown = (text: string) => findLinks(text).map(({ start, end }) => text.slice(start, end))

describe('a URL in output', () => {
  it.each([
    ['see https://example.com.', 'https://example.com'],
    ['(https://example.com/a)', 'https://example.com/a'],
    ['https://en.wikipedia.org/wiki/Rust_(fungus)', 'https://en.wikipedia.org/wiki/Rust_(fungus)'],
    ['[docs](https://example.com/a_(b))', 'https://example.com/a_(b)'],
    ['<https://example.com/x?y=1&z=[2]>', 'https://example.com/x?y=1&z=[2]'],
    ['│ https://example.com/a │', 'https://example.com/a'],
    ['https://[2001:db8::1]:8443/x.', 'https://[2001:db8::1]:8443/x'],
    ['请看https://example.com/路径。谢谢', 'https://example.com/路径'],
    ['https://user@example.com:8080/a#b', 'https://user@example.com:8080/a#b'],
    ['https://example.com/\u202etxt', 'https://example.com/'],
  ])('ends where it ends: %s', (text, address) => {
    expect(shown(text)).toEqual([address])
  })

  it.each([
    'https://',
    'http://:80/',
    'javascript:alert(1)//http',
    'data:text/html,<b>x</b>',
    'file:///etc/passwd',
    `https://example.com/${'a'.repeat(2048)}`,
  ])('is not in %s', (text) => {
    expect(findLinks(text).filter(({ target }) => target.kind !== 'file')).toEqual([])
  })
})

describe('a link to the devbox', () => {
  it.each([
    ['http://localhost:3000/a?b#c', 3000, '/a?b#c'],
    ['Local:   http://127.0.0.1:5173/', 5173, '/'],
    ['https://[::1]:8443/x', 8443, '/x'],
    ['http://localhost/x', 80, '/x'],
    ['listening on localhost:8080', 8080, '/'],
    // Browsers resolve these to 127.0.0.1 on the user's machine.
    ['http://0x7f.1:99/', 99, '/'],
  ])('is a port: %s', (text, port, path) => {
    expect(findLinks(text).map(({ target }) => target)).toMatchObject([{ kind: 'port', port, path }])
  })
})

describe('a file in output', () => {
  it.each([
    ['/etc/hosts', '/etc/hosts', undefined, '/etc/hosts'],
    ['Error in src/app/page.tsx:12:3', 'src/app/page.tsx', 12, 'src/app/page.tsx:12:3'],
    ['src/app/page.tsx(12,3): error TS2304', 'src/app/page.tsx', 12, 'src/app/page.tsx(12,3)'],
    ['src/a.ts:7:const a = 1', 'src/a.ts', 7, 'src/a.ts:7'],
    ['  at run (./lib/main.ts:4)', './lib/main.ts', 4, './lib/main.ts:4'],
    ['../x/y:3', '../x/y', 3, '../x/y:3'],
    ['saved to ~/out/report.pdf.', '~/out/report.pdf', undefined, '~/out/report.pdf'],
    ['main.go:12: undefined: x', 'main.go', 12, 'main.go:12'],
    ['  File "x.py", line 3, in <module>', 'x.py', 3, 'x.py'],
    ['  File "/a b/x.py", line 30', '/a b/x.py', 30, '/a b/x.py'],
    ['at file:///home/a%20b/x.mjs:2:7', '/home/a b/x.mjs', 2, 'file:///home/a%20b/x.mjs:2:7'],
  ])('is found: %s', (text, path, line, shownText) => {
    expect(findLinks(text).map(({ target }) => target)).toEqual([{ kind: 'file', path, ...(line && { line }) }])
    expect(shown(text)).toEqual([shownText])
  })

  it.each([
    'and/or',
    '3/4',
    'text/html',
    'https://example.com/a/b.txt',
    '/',
    'main.go',
    'db.internal:5432',
    'at 12.30:15',
    'File "<stdin>", line 1',
  ])('is not in %s', (text) => {
    expect(findLinks(text).filter(({ target }) => target.kind === 'file')).toEqual([])
  })

  it('is matched in linear time', () => {
    for (const text of [
      '/a'.repeat(50_000),
      'a.'.repeat(100_000),
      '/'.repeat(100_000),
      'a/'.repeat(50_000),
      'a.ts'.repeat(50_000),
      'File "'.repeat(20_000),
      '('.repeat(1e5),
    ])
      expect(findLinks(text)).toEqual([])
    expect(findLinks(`https://a.example/${')'.repeat(2e4)}`)).toHaveLength(1)
    expect(findLinks('file:///'.repeat(20_000))).toHaveLength(1)
    expect(findLinks('/a '.repeat(30_000))).toHaveLength(30_000)
  })
})

it("resolves a path against the shell's folder", () => {
  expect(fileInDevbox('src/./a.ts', '/srv/app')).toBe('/srv/app/src/a.ts')
  expect(fileInDevbox('../../../b', '/srv/app')).toBe('/b')
  expect(fileInDevbox('/etc//hosts', '/srv')).toBe('/etc/hosts')
  expect(fileInDevbox('~/a', '/srv')).toBe('~/a')
  expect(fileInDevbox('./a', undefined)).toBe('~/a')
})

describe('a link text with an address', () => {
  const other = (text: string, target: string) => otherAddress(text, new URL(target))

  it('is reported if it differs from the target', () => {
    expect(other('https://bank.example', 'https://evil.example/')).toBe('https://bank.example')
    expect(other('bank.com', 'https://evil.example/')).toBe('bank.com')
    expect(other('https://github.com/a/b', 'https://github.com/evil/b')).toBe('https://github.com/a/b')
    expect(other('https://bank.com@evil.example', 'https://bank.com/')).toBe('https://bank.com@evil.example')
    expect(other('→ localhost:3000', 'http://localhost:4000/')).toBe('localhost:3000')
    expect(other('ban\u200bk.com', 'https://evil.example/')).toBe('bank.com')
    expect(other('https://аpple.com', 'https://apple.com/')).toBe('https://аpple.com')
  })

  it('is accepted if it matches or shows no address', () => {
    expect(other('https://bank.example', 'https://bank.example/')).toBeNull()
    expect(other('bank.com', 'https://www.bank.com/login')).toBeNull()
    expect(other('https://github.com/a/b…', 'https://github.com/a/b/issues/1')).toBeNull()
    expect(other('docs', 'https://evil.example/')).toBeNull()
    expect(other('main.rs', 'https://github.com/x/main.rs')).toBeNull()
  })
})

it('separates the host and hides a password', () => {
  expect(addressParts(new URL('https://bank.com:pw@evil.example:8/a?b#c'))).toEqual({
    before: 'https://bank.com:…@',
    host: 'evil.example:8',
    after: '/a?b#c',
  })
  expect(addressParts(new URL('https://аpple.com'))).toMatchObject({ host: 'xn--pple-43d.com', after: '' })
})
