import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readProc } from '#lib/service/kit/proc.ts'
import { makeLocalSpec, outputOf } from '#lib/service/testing/boxes.ts'
import { startPlainProcess } from '../process/plain-process.ts'
import { childrenOf } from '../processes.ts'

it('starts commands after the process that makes their pipes was killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-pipes-'))
  const box = await startPlainProcess(makeLocalSpec(folder, { devboxId: 'one', serviceId: `pipes-${process.pid}` }))
  onTestFinished(async () => {
    await box.stop()
    rmSync(folder, { recursive: true })
  })
  const reopen = 'echo one >/dev/stdout; echo two >/dev/stderr'
  const runTwice = async () => {
    // The first may still get pipes that were made before the kill.
    for (let i = 0; i < 2; i++) expect(await outputOf(box, reopen)).toBe('one\ntwo')
  }
  await runTwice()
  for (let round = 0; round < 3; round++) {
    const makers = () => childrenOf(process.pid).filter((pid) => readProc(pid, 'cmdline')?.includes('exec 3<>'))
    await expect.poll(makers).toHaveLength(1)
    const [maker = 0] = makers()
    process.kill(maker, 'SIGKILL')
    await runTwice()
  }
})
