import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { seededRandom } from '#lib/service/testing/random.ts'
import { decodeChunks, OutputAllowance, OutputBuffer, readTail } from './output-buffer.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-output-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const _noAbort = () => new AbortController().signal
const pieces = async function* (all: Buffer, cuts: readonly number[]) {
  let start = 0
  for (const end of [...cuts, all.length]) {
    if (end > start) yield all.subarray(start, end)
    start = end
  }
}
const decoded = async (bytes: AsyncIterable<Buffer>, offset = 0) => {
  const chunks = []
  for await (const chunk of decodeChunks(bytes, offset)) chunks.push(chunk)
  return chunks
}

describe('decodeChunks', () => {
  const interesting = [0x41, 0x80, 0xbf, 0xc2, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xf0, 0x9f, 0x98, 0xf4, 0x90, 0xc0, 0xff]

  it('decodes the same wherever it is split, and resumes from any reported offset', async () => {
    const below = seededRandom(1)
    for (let round = 0; round < 300; round++) {
      const all = Buffer.from(Array.from({ length: 12 }, () => interesting[below(interesting.length)] ?? 0))
      const cuts = Array.from({ length: 4 }, () => below(all.length)).toSorted((a, b) => a - b)
      const chunks = await decoded(pieces(all, cuts))
      expect(chunks.map(({ output }) => output).join(''), all.toString('hex')).toBe(all.toString('utf8'))
      expect(chunks.at(-1)?.offset).toBe(all.length)
      let before = ''
      for (const { output, offset } of chunks) {
        before += output
        const rest = await decoded(pieces(all.subarray(offset), []), offset)
        expect(before + rest.map((chunk) => chunk.output).join('')).toBe(all.toString('utf8'))
      }
    }
  })
})

const newAllowance = (bytes?: number) =>
  new OutputAllowance({ account: 'test', quota: new StorageQuota(0), ...(bytes !== undefined && { bytes }) })

describe('OutputBuffer', () => {
  it('drops output on write errors without blocking', async () => {
    // A folder in place of the file makes every write fail.
    const buffer = new OutputBuffer(folder, newAllowance())
    for (let i = 0; i < 100; i++) buffer.sink.write(Buffer.alloc(100_000))
    await buffer.end()
    expect(buffer.isCut).toBe(true)
  })

  it('limits the output of all commands of a devbox, including earlier ones', async () => {
    mkdirSync(join(folder, 'before'))
    writeFileSync(join(folder, 'before/stdout'), 'abc')
    const allowance = newAllowance(11)
    await allowance.takeFolder(folder)
    const [first, second] = ['one/stdout', 'two/stdout'].map((name) => new OutputBuffer(join(folder, name), allowance))
    for (const buffer of [first, second]) {
      buffer?.sink.write('12345')
      await buffer?.end()
    }
    expect([first?.isCut, second?.isCut]).toEqual([false, true])
    expect(['one/stdout', 'two/stdout'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
      '12345',
      '123',
    ])
  })

  it('truncates output at lines and characters', async () => {
    const file = join(folder, 'stdout')
    const buffer = new OutputBuffer(file, newAllowance())
    buffer.sink.write(Buffer.from(`${'é'.repeat(100)}\nlast\n`))
    await buffer.end()
    expect(buffer.isCut).toBe(false)
    expect(await readTail(file, 100)).toEqual({ text: `${'é'.repeat(47)}\nlast\n`, truncated: true })
    expect(await readTail(file, 1000, 1)).toEqual({ text: 'last\n', truncated: true })
    expect(await readTail(file, 1000)).toMatchObject({ truncated: false })
  })
})
