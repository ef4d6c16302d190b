import { describe, expect, it } from 'vitest'
import { findSecrets, maskSecrets } from './secrets-in-text.ts'

const kindsIn = (text: string) => findSecrets(text).map(({ kind }) => kind)
/** Assembled from parts, so that secret scanners don't flag this file. */
const join = (...parts: string[]) => parts.join('')

describe('secrets', () => {
  it.each([
    ['an AWS key', join('AKIA', 'IOSFODNN7EXAMPLE')],
    ['a GitHub token', join('ghp', '_16C7e42F292c6912E7710c838347Ae178B4a')],
    ['an API key', join('sk-ant', '-api03-abcDEF123456ghiJKL7890')],
    ['an API key', join('ak', '_5f2b9c8d7e6f1a2b3c4d5e6f')],
    ['a web token', join('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0')],
    ['a password in an address', 'postgres://app:hunter22@db.internal:5432/app'],
    ['a key for requests', 'curl -H "Authorization: Bearer 0a1b2c3d4e5f6a7b8c9d"'],
    ['a named secret', 'export DB_PASSWORD=correct-horse'],
    ['a named secret', '"api_key": "0123456789abcdef"'],
    ['a random key', 'k = 9Xw2Lq7Zt4Vb8Nc1Rm6Yp3Sd5Gf0HjKa'],
  ])('is %s in %s', (kind, text) => {
    expect(kindsIn(text)).toEqual([kind])
  })

  it('include complete and truncated private keys', () => {
    const key = join('-----BEGIN OPENSSH PRIVATE', ' KEY-----\nb3Blbn\nNzaC1\n-----END OPENSSH PRIVATE KEY-----')
    expect(findSecrets(`x\n${key}\ny`)).toEqual([{ start: 2, end: 2 + key.length, kind: 'a private key' }])
    expect(kindsIn(key.slice(0, 50))).toEqual(['a private key'])
  })

  it.each([
    'git checkout 8f14e45fceea167a5a36dedd4bea2543c1d2e3f4',
    'cd /usr/local/lib/python3.12/site-packages/numpy/core/include/numpy',
    'const veryLongCamelCaseIdentifierThatGoesOnForever2 = true',
    'export TOKEN=$GITHUB_TOKEN',
    'password: ********',
    'for i in 1 2 3; do\n  echo $i\ndone',
    '',
  ])('is nothing in %s', (text) => {
    expect(kindsIn(text)).toEqual([])
  })

  it('are found in linear time', () => {
    // Quadratic patterns would take minutes.
    const spaces = ' '.repeat(900_000)
    for (const text of [
      'a'.repeat(1e6),
      'pass:'.repeat(2e5),
      'x://'.repeat(2e5),
      '-----BEGIN '.repeat(9e4),
      `pass${spaces}`,
    ])
      expect(findSecrets(text).length).toBeLessThan(2)
    expect(findSecrets('token=abcdefgh '.repeat(60_000))).toHaveLength(60_000)
  })
})

describe('the mask', () => {
  const masked = (text: string) => maskSecrets(text, findSecrets(text))

  it('shows the start of a long secret only, and not its length', () => {
    expect(masked(`a ${join('ghp', '_16C7e42F292c6912E7710c838347Ae178B4a')} b`)).toBe('a ghp_•••••••• b')
    expect(masked(`export GITHUB_TOKEN=${join('ghp', '_16C7e42F292c6912E7710c838347Ae178B4a')}`)).toBe(
      'export GITHUB_TOKEN=ghp_••••••••',
    )
    expect(masked('PASSWORD=hunter22 ls')).toBe('PASSWORD=•••••••• ls')
    expect(masked('PASSWORD=hunter2222 ls')).toBe('PASSWORD=•••••••• ls')
  })

  it('keeps line breaks', () => {
    expect(masked(join('-----BEGIN PRIVATE', ' KEY-----\nAAAA\nBBBB')).split('\n')).toEqual([
      '----••••••••',
      '••••••••',
      '••••••••',
    ])
  })
})
