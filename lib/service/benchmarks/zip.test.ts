import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readZip } from './testing-zip.ts'
import { type ZipEntry, zip } from './zip.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-zip-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const has = (tool: string) => spawnSync(tool, ['-v']).error === undefined

async function* chunks(...parts: Uint8Array[]) {
  yield* parts
}

const entry = (name: string, content: Uint8Array, maxBytes = content.length): ZipEntry => ({
  name,
  modifiedMs: Date.UTC(2026, 10, 20, 12, 30, 15),
  maxBytes,
  content: chunks(content),
})

async function* all(...entries: ZipEntry[]) {
  yield* entries
}

/** Checked by a reader that is not ours. */
const check = (bytes: Buffer) => {
  const file = join(folder, 'a.zip')
  writeFileSync(file, bytes)
  return execFileSync('unzip', ['-tqq', file], { encoding: 'utf8' })
}

describe('zip', () => {
  const block = 512 * 1024
  const lines = Buffer.from('2026-11-20T12:30:15Z a line of some log, as they are\n'.repeat(40_000))
  const contents: [string, Buffer][] = [
    ['empty', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['text', lines],
    ['a block', lines.subarray(0, block)],
    ['a block and a byte', lines.subarray(0, block + 1)],
    ['noise', randomBytes(3 * block + 17)],
    ['zeros', Buffer.alloc(4 * block)],
  ]

  it('holds what the entries hold, under their names and in their order', async () => {
    const bytes = await buffer(zip(all(...contents.map(([name, content]) => entry(name, content)))))
    const read = readZip(bytes)
    expect(read.map(({ name }) => name)).toEqual(contents.map(([name]) => name))
    for (const [i, [name, content]] of contents.entries()) expect(read[i]?.content.equals(content), name).toBe(true)
    expect(read[0]?.modifiedMs).toBe(Date.UTC(2026, 10, 20, 12, 30, 15))
    if (has('unzip')) check(bytes)
  })

  it('is the same bytes for the same entries', async () => {
    const make = () => buffer(zip(all(...contents.map(([name, content]) => entry(name, content)))))
    expect((await make()).equals(await make())).toBe(true)
  })

  it('compresses no worse for being cut into blocks', async () => {
    const bytes = await buffer(zip(all(entry('text', lines))))
    expect(bytes.length).toBeLessThan(lines.length / 50)
  })

  it('joins what comes in small chunks, and keeps no chunk', async () => {
    const shared = Buffer.alloc(1000)
    const content = (async function* () {
      for (let i = 0; i < 1200; i++) yield shared.fill(i % 256)
    })()
    const bytes = await buffer(zip(all({ ...entry('chunks', Buffer.alloc(0), 1.2e6), content })))
    const [read] = readZip(bytes)
    expect(read?.content.length).toBe(1.2e6)
    for (let i = 0; i < 1200; i++) expect(read?.content[i * 1000 + 999]).toBe(i % 256)
  })

  it('has UTF-8 names', async () => {
    const names = ['日本語.log', 'naïve/ß.txt', '🙂']
    const read = readZip(await buffer(zip(all(...names.map((name) => entry(name, Buffer.from(name)))))))
    expect(read.map(({ name }) => name)).toEqual(names)
  })

  it('is a zip when there is nothing in it', async () => {
    expect(readZip(await buffer(zip(all())))).toEqual([])
  })

  it('counts in 64 bits what may need them', async () => {
    const entries = [entry('large', lines, 5e9), entry('large and small', Buffer.from('x'), 5e9), entry('next', lines)]
    const bytes = await buffer(zip(all(...entries)))
    expect(readZip(bytes).map(({ content }) => content.length)).toEqual([lines.length, 1, lines.length])
    if (has('unzip')) check(bytes)
  })

  it('holds more entries than 16 bits count', async () => {
    const many = (async function* () {
      for (let i = 0; i < 66_000; i++) yield entry(`${i}`, Buffer.alloc(0))
    })()
    const bytes = await buffer(zip(many))
    expect(readZip(bytes)).toHaveLength(66_000)
    if (has('unzip')) check(bytes)
  })

  it('reads no further than a few blocks ahead of a reader that stops', async () => {
    let read = 0
    let isEnded = false
    const noise = randomBytes(64 * 1024)
    const content = (async function* () {
      try {
        for (; read < 1e9; read += noise.length) yield noise
      } finally {
        isEnded = true
      }
    })()
    const reader = zip(all({ ...entry('endless', Buffer.alloc(0), 1e9), content }))
    await reader.next()
    const first = read
    expect(first).toBeLessThan(3 * block)
    for (let i = 0; i < 10; i++) await reader.next()
    expect(read - first).toBeLessThan(15 * block)
    await reader.return(undefined)
    expect(isEnded).toBe(true)
  })

  it('fails as the content does', async () => {
    const content = (async function* () {
      yield lines
      throw new Error('the disk is gone')
    })()
    await expect(buffer(zip(all({ ...entry('bad', lines), content })))).rejects.toThrow('the disk is gone')
  })
})
