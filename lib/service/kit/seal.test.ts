import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSealer } from './seal.ts'

let folder: string
let keyFile: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-seal-'))
  keyFile = join(folder, 'secrets-key')
})
afterEach(() => rmSync(folder, { recursive: true }))

const place = ['account', 'NAME']
const sealer = (mayMakeKey = true) => createSealer(keyFile, () => mayMakeKey)

it('opens sealed text, also after a restart', () => {
  for (const text of ['', 'word', 'two\nlines', '🔑 é', 'x'.repeat(65_536)])
    expect(sealer(false).open(sealer().seal(text, place), place)).toBe(text)
})

it('creates a private key on first use', () => {
  const first = sealer()
  expect(() => statSync(keyFile)).toThrow()
  first.seal('x', place)
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  expect(readFileSync(keyFile, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
})

it("can't be opened in another place", () => {
  const sealed = sealer().seal('x', place)
  for (const other of [
    ['account', 'OTHER'],
    ['other', 'NAME'],
    ['accountN', 'AME'],
    ['account', 'NAME', ''],
  ])
    expect(() => sealer().open(sealed, other)).toThrow("Can't decrypt secret")
})

it('detects a change to any byte', () => {
  const sealed = sealer().seal('word', place)
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i] = (changed[i] ?? 0) ^ 1
    expect(() => sealer().open(changed, place)).toThrow(/(Can't decrypt secret NAME|Secret NAME is damaged)/)
  }
  for (const length of [0, 5, sealed.length - 1])
    expect(() => sealer().open(sealed.subarray(0, length), place)).toThrow('ecret NAME')
})

it('creates no new key if sealed text exists, and reports a wrong key', () => {
  const sealed = sealer().seal('x', place)
  rmSync(keyFile)
  expect(() => sealer(false).open(sealed, place)).toThrow('the key file secrets-key is missing from the data folder')
  expect(() => sealer(false).seal('y', place)).toThrow('is missing')
  sealer().seal('y', place)
  expect(() => sealer(false).open(sealed, place)).toThrow('secrets-key in the data folder is not its key')
  writeFileSync(keyFile, 'nonsense')
  expect(() => sealer(false).open(sealed, place)).toThrow('secrets-key in the data folder is not a valid key')
})
