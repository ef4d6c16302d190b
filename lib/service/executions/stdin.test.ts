import { mkdtempSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Pipes } from '#lib/service/engine/pipes.ts'
import { Stdin } from './stdin.ts'

let folder: string
let pipes: Pipes
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-stdin-'))
  pipes = new Pipes(folder)
})
afterEach(async () => {
  await pipes.close()
  rmSync(folder, { recursive: true, force: true })
})

const megabyte = 'x'.repeat(1024 * 1024)

it('rejects input while nothing reads, and accepts it again afterwards', async () => {
  const stdin = new Stdin(20)
  const { read, write } = await pipes.forInput()
  stdin.connect(write)
  let taken = 0
  while (await stdin.write(megabyte)) taken++
  expect(taken).toBeGreaterThan(0)
  expect(taken).toBeLessThan(5)
  const reader = new Socket({ fd: read, readable: true, writable: false })
  const all = text(reader)
  while (!(await stdin.write('end'))) expect(taken).toBeLessThan(5)
  expect(await stdin.end()).toBe(true)
  expect((await all).length).toBe(taken * megabyte.length + 3)
})

it('rejects input after it is closed, including pending writes', async () => {
  const stdin = new Stdin()
  while (await Promise.race([stdin.write(megabyte), new Promise((resolve) => setImmediate(resolve, false))]));
  const waiting = stdin.write('late')
  stdin.close()
  expect(await waiting).toBe(false)
  expect(await stdin.write('later')).toBe(false)
  expect(await stdin.end()).toBe(false)
})
