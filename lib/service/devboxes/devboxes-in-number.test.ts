import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findProcesses, readProcessTable } from '#lib/service/engine/processes.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { startService } from '#lib/service/testing/service.ts'

const concurrency = 10
// `npm run soak` uses 400 and checks memory as well.
const total = 30

describeUnderEachIsolation('many devboxes in sequence, under isolation', (isolation) => {
  it('leave no processes, mounts, open files, ports or folders', async () => {
    const temp = mkdtempSync(join(tmpdir(), 'devdeck-in-number-'))
    vi.stubEnv('TMPDIR', temp)
    onTestFinished(() => rmSync(temp, { recursive: true, force: true }))
    onTestFinished(() => void vi.unstubAllEnvs())
    const service = await startService({ isolation })
    const { client } = service
    const session = async (number: number) => {
      const { id, status } = await client.devboxes.createAndAwaitRunning({
        body: { file_mounts: { in: 'put' }, launch_parameters: { launch_commands: ['(sleep 1000 &)'] } },
      })
      expect(status).toBe('running')
      const listen = number % 10 === 0 ? 'python3 -m http.server --bind 127.0.0.1 0 >/dev/null 2>&1 & ' : ''
      const command = `${listen}cat in; echo out > ~/out`
      const done = await client.executions.executeSync({ params: { id }, body: { command } })
      expect(done).toMatchObject({ stdout: 'put', stderr: '', exit_status: 0 })
      expect((await client.devboxes.shutdown({ params: { id } })).status).toBe('shutdown')
      return id
    }
    const many = async (count: number) => {
      const ids: string[] = []
      let started = 0
      const worker = async () => {
        while (started < count) ids.push(await session(started++))
      }
      await Promise.all(Array.from({ length: concurrency }, worker))
      return ids
    }

    // Warm-up: the service has opened its long-lived files.
    const first = await many(total / 3)
    const filesBefore = openFiles()
    const ids = [...first, ...(await many(total - first.length))]
    expect(new Set(ids).size).toBe(total)

    const alive = readProcessTable()
    const measuring = new Set(findProcesses({ DEVDECK_COPIES: 'sizes' }, alive))
    const left = findProcesses({ DEVDECK_SERVICE_ID: service.serviceId }, alive).filter((pid) => !measuring.has(pid))
    expect(left.map((pid) => [pid, readProc(pid, 'cmdline'), readProc(pid, 'stat')])).toEqual([])
    await expect.poll(openFiles).toBeLessThanOrEqual(filesBefore + concurrency)
    expect(mounts().filter((line) => line.includes(temp))).toEqual([])
    for (const id of ids)
      for (const left of readdirSync(join(service.dataDir, 'devboxes', id)))
        expect(['executions', 'log', 'record.json']).toContain(left)
    const { port } = new URL(service.url)
    await service.close()
    expect(readdirSync(temp)).toEqual([])
    await new Promise<void>((resolve, reject) => {
      const server = createServer().once('error', reject)
      server.listen(Number(port), '127.0.0.1', () => server.close(() => resolve()))
    })
  }, 240_000)
})

const openFiles = () => readdirSync('/proc/self/fd').length
const mounts = () => readFileSync('/proc/self/mounts', 'utf8').split('\n')
