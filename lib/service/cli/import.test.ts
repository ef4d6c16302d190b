import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient } from '#lib/client/client.ts'
import { harborJob, zipOf } from '#lib/service/testing/harbor-job.ts'
import { runCommand } from '#lib/service/testing/process.ts'

let folder: string
let dataDir: string
let service: ReturnType<typeof runCommand>
const startService = () => runCommand(['--port', '0', '--isolation', 'none', '--data-dir', dataDir])
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-import-'))
  dataDir = join(folder, 'data')
  service = startService()
  await service.ready
})
afterAll(async () => {
  service.child.kill('SIGTERM')
  await service.ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const files = harborJob({ pay__aaaaaaa: { task: 'pay', reward: 1 }, ship__bbbbbbb: { task: 'ship', reward: 0 } })
const importing = (path: string, of = dataDir, ...flags: string[]) =>
  runCommand(['import', path, '--data-dir', of, ...flags]).ended

describe('import', () => {
  it('imports a Harbor job folder once, also as a zip', async () => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
    }
    const first = await importing(join(folder, 'nightly'))
    expect(first, first.stderr).toMatchObject({ code: 0, stderr: '' })
    const id = /^Imported: nightly \((bmj_\w+)\), 2 trials\n$/.exec(first.stdout)?.[1] ?? ''
    const client = createClient({
      baseUrl: await service.ready,
      headers: { authorization: `Bearer ${readFileSync(join(dataDir, 'api-key'), 'utf8').trim()}` },
    })
    const job = await client.benchmarkJobs.get({ params: { id } })
    expect(job.benchmark_outcomes?.[0]).toMatchObject({ n_completed: 2, average_score: 0.5 })

    const zip = join(folder, 'nightly.zip')
    writeFileSync(zip, Buffer.from(await (await zipOf(files)).arrayBuffer()))
    const again = await importing(zip)
    expect(again, again.stderr).toMatchObject({
      code: 0,
      stdout: `Already imported: nightly (${id}), 2 trials\n`,
    })
  })

  it('leaves no key behind', async () => {
    const { stdout } = await runCommand(['keys', 'list', '--data-dir', dataDir]).ended
    expect(stdout).not.toContain(' import ')
  })

  it('watches a folder: imports jobs that have ended or been quiet, and survives a restart', async () => {
    const jobs = join(folder, 'jobs')
    const write = (name: string, more: object, changedSeconds = Date.now() / 1000) => {
      for (const [path, content] of Object.entries(harborJob({ pay__aaaaaaa: { task: 'pay', reward: 1 } }, more))) {
        const file = join(jobs, name, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
      }
      for (const each of readdirSync(join(jobs, name), { recursive: true, encoding: 'utf8' }))
        utimesSync(join(jobs, name, each), changedSeconds, changedSeconds)
    }
    write('ended', { id: 'watched' })
    write('running', { id: 'still-running', finished_at: null })
    const once = await importing(jobs, dataDir, '--watch', '--once')
    expect(once, once.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Imported: \S+ \(bmj_\w+\), 1 trial\n$/),
    })

    const watching = runCommand(['import', '--watch', jobs, '--every', '1s', '--data-dir', dataDir])
    const lines = () => watching.output.stdout.split('\n').filter(Boolean)
    await vi.waitFor(() => expect(lines()).toEqual([expect.stringMatching(/^Already imported/)]), { timeout: 10_000 })
    write('running', { id: 'still-running' })
    await vi.waitFor(() => expect(lines()).toHaveLength(2), { timeout: 10_000 })
    expect(lines()[1]).toMatch(/^Imported: /)

    service.child.kill('SIGTERM')
    await service.ended
    write('quiet', { id: 'killed', finished_at: null }, Date.now() / 1000 - 601)
    await vi.waitFor(() => expect(watching.output.stderr).toContain('No service is running'), { timeout: 10_000 })
    service = startService()
    await service.ready
    await vi.waitFor(() => expect(lines()).toHaveLength(3), { timeout: 10_000 })
    watching.child.kill('SIGTERM')
    const { code, stderr } = await watching.ended
    expect(code).toBe(0)
    expect(stderr.match(/No service is running/g)).toHaveLength(1)
    expect(stderr).toContain('The job was still running when its files were copied')
  })

  it('rejects a folder without a job, a missing path and a stopped service', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    writeFileSync(join(empty, 'readme.txt'), 'nothing')
    expect(await importing(empty)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('neither a Harbor job'),
    })
    expect(await importing(join(folder, 'missing'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a folder or zip file'),
    })
    expect(await importing(empty, join(folder, 'other'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No service is running on the data folder'),
    })
  })
})
