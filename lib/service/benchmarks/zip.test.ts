import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { readZip } from '#lib/service/testing/zip.ts'
import { type ZipEntry, zip } from './zip.ts'

const lines = Buffer.from('2026-11-20T12:30:15Z a line of some log, as they are\n'.repeat(40_000))
const contents: [string, Buffer][] = [
  ['empty', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
  ['日本語/naïve ß 🙂.log', lines],
  ['noise', randomBytes(1_500_000)],
]

async function* chunks(...parts: Uint8Array[]) {
  yield* parts
}

const modifiedMs = Date.UTC(2026, 10, 20, 12, 30, 15)
const entry = (name: string, content: Uint8Array): ZipEntry => ({ name, modifiedMs, content: chunks(content) })

async function* all(...entries: ZipEntry[]) {
  yield* entries
}

const make = () => buffer(zip(all(...contents.map(([name, content]) => entry(name, content)))))

it('contains the entries in order', async () => {
  const read = readZip(await make())
  expect(read.map(({ name, content }) => [name, content.length])).toEqual(
    contents.map(([name, content]) => [name, content.length]),
  )
  for (const [i, [name, content]] of contents.entries()) expect(read[i]?.content.equals(content), name).toBe(true)
  expect(read[0]?.modifiedMs).toBe(modifiedMs)
})

it('is valid for unzip, and the same bytes each time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-zip-'))
  try {
    const file = join(folder, 'a.zip')
    writeFileSync(file, await make())
    execFileSync('unzip', ['-tqq', file])
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect((await make()).equals(await make())).toBe(true)
})

it('reads only a few buffers ahead, and ends its entries when the reader leaves', async () => {
  let read = 0
  const ended = Promise.withResolvers<void>()
  const noise = randomBytes(64 * 1024)
  const content = (async function* () {
    try {
      for (; ; read += noise.length) yield noise
    } finally {
      ended.resolve()
    }
  })()
  const output = zip(all({ name: 'endless', modifiedMs, content }))
  await once(output, 'readable')
  // Without backpressure, the source would continue every turn.
  for (let before = -1; before < read; await turn()) before = read
  expect(read).toBeLessThan(2 ** 20)
  output.destroy()
  await ended.promise
})

it('fails if the content does', async () => {
  const content = (async function* () {
    yield lines
    throw new Error('the disk is gone')
  })()
  await expect(buffer(zip(all({ name: 'bad', modifiedMs, content })))).rejects.toThrow('the disk is gone')
})
