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
  expect(await outputOf(box, reopen)).toBe('one\ntwo')
  for (let round = 0; round < 3; round++) {
    const makers = childrenOf(process.pid).filter((pid) => readProc(pid, 'cmdline')?.includes('exec 3<>'))
    expect(makers).toHaveLength(1)
    process.kill(makers[0] ?? 0, 'SIGKILL')
    expect(await outputOf(box, reopen)).toBe('one\ntwo')
  }
})
