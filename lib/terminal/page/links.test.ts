import { describe, expect, it } from 'vitest'
import { addressParts, findLinks, linkTarget, otherAddress } from './links.ts'

const shown = (text: string) => findLinks(text).map(({ start, end }) => text.slice(start, end))

describe('a URL in output', () => {
  it.each([
    ['see https://example.com.', 'https://example.com'],
    ['(https://example.com/a)', 'https://example.com/a'],
    ['https://en.wikipedia.org/wiki/Rust_(fungus)', 'https://en.wikipedia.org/wiki/Rust_(fungus)'],
    ['[docs](https://example.com/a_(b))', 'https://example.com/a_(b)'],
    ['<https://example.com/x?y=1&z=[2]>', 'https://example.com/x?y=1&z=[2]'],
    ['"https://example.com/a",', 'https://example.com/a'],
    ["url='https://example.com/a'", 'https://example.com/a'],
    ['`https://example.com/a`', 'https://example.com/a'],
    ['**https://example.com/a**!', 'https://example.com/a'],
    ['https://example.com/a, https://', 'https://example.com/a'],
    ['│ https://example.com/a │', 'https://example.com/a'],
    ['https://[2001:db8::1]:8443/x.', 'https://[2001:db8::1]:8443/x'],
    ['请看https://example.com/路径。谢谢', 'https://example.com/路径'],
    ['HTTP://EXAMPLE.COM/A', 'HTTP://EXAMPLE.COM/A'],
    ['https://user@example.com:8080/a#b', 'https://user@example.com:8080/a#b'],
    ['pip install git+https://example.com/a.git@v1', 'https://example.com/a.git@v1'],
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
    'ftp://example.com/x',
    'blob:https',
    `https://example.com/${'a'.repeat(2048)}`,
  ])('is not in %s', (text) => {
    expect(findLinks(text).filter(({ target }) => target.kind !== 'file')).toEqual([])
  })
})

describe('a link to the devbox', () => {
  it.each([
    ['http://localhost:3000/a?b#c', 3000, '/a?b#c'],
    ['Local:   http://127.0.0.1:5173/', 5173, '/'],
    ['http://0.0.0.0:8000', 8000, '/'],
    ['https://[::1]:8443/x', 8443, '/x'],
    ['http://localhost/x', 80, '/x'],
    ['https://127.1.2.3', 443, '/'],
    ['listening on localhost:8080', 8080, '/'],
    ['0.0.0.0:80.', 80, '/'],
    // Browsers resolve these to 127.0.0.1 on the user's machine.
    ['http://0x7f.1:99/', 99, '/'],
    ['http://2130706433:98/', 98, '/'],
  ])('is a port: %s', (text, port, path) => {
    expect(findLinks(text).map(({ target }) => target)).toMatchObject([{ kind: 'port', port, path }])
  })

  it('ignores parts of other names', () => {
    expect(findLinks('mylocalhost:80 x.localhost:90 a@127.0.0.1:22')).toEqual([])
    expect(linkTarget('http://localhost.example.com:80/')).toMatchObject({ kind: 'web' })
    expect(linkTarget('http://3000-key.tunnel.localhost:1/')).toMatchObject({ kind: 'web' })
  })
})

describe('a file in output', () => {
  it.each([
    ['/etc/hosts', '/etc/hosts'],
    ['Error in src/app/page.tsx:12:3', 'src/app/page.tsx'],
    ['  at run (./lib/main.ts:4)', './lib/main.ts'],
    ['saved to ~/out/report.pdf.', '~/out/report.pdf'],
    ['../a/b', '../a/b'],
    ['modified:   README/notes.md', 'README/notes.md'],
    ["open('/tmp/a-b_c.txt')", '/tmp/a-b_c.txt'],
  ])('is found: %s', (text, path) => {
    expect(findLinks(text).map(({ target }) => target)).toEqual([{ kind: 'file', path }])
  })

  it.each([
    'and/or',
    '3/4',
    '12/31/2026',
    'text/html',
    'https://example.com/a/b.txt',
    's/a/b/g',
    '//',
    '/',
    'a//b',
    '50%',
  ])('is not in %s', (text) => {
    expect(findLinks(text).filter(({ target }) => target.kind === 'file')).toEqual([])
  })

  it('is matched in linear time', () => {
    for (const text of [
      '/a'.repeat(50_000),
      'a.'.repeat(100_000),
      '/'.repeat(100_000),
      'a/'.repeat(50_000),
      '('.repeat(1e5),
    ])
      expect(findLinks(text)).toEqual([])
    expect(findLinks(`https://a.example/${')'.repeat(2e4)}`)).toHaveLength(1)
  })
})

describe('a link text with an address', () => {
  const other = (text: string, target: string) => otherAddress(text, new URL(target))

  it('is reported if it differs from the target', () => {
    expect(other('https://bank.example', 'https://evil.example/')).toBe('https://bank.example')
    expect(other('bank.com', 'https://evil.example/')).toBe('bank.com')
    expect(other('www.bank.example/login', 'https://evil.example/')).toBe('www.bank.example/login')
    expect(other('https://github.com/a/b', 'https://github.com/evil/b')).toBe('https://github.com/a/b')
    expect(other('https://bank.com', 'https://bank.com.evil.example/')).toBe('https://bank.com')
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
    expect(other('#123', 'https://github.com/x/123')).toBeNull()
    expect(other('', 'https://github.com/')).toBeNull()
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
