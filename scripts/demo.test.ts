import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEmbeddedService } from '#lib/gateway/embedded-service.ts'

const demo = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'demo.ts'), ...args], {
    encoding: 'utf8',
    env: { NODE_ENV: 'test', PATH: process.env.PATH },
  })
  return { status, stdout, stderr }
}

it('says in one line that no service runs', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-demo-'))
  try {
    expect(demo('--data-dir', dataDir)).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^No service runs on the data folder \S+\. Start one with npm run dev, [^\n]+\n$/),
    })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

it("finds the service in the console's data folder, and in its own", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-demo-'))
  const service = await startEmbeddedService(join(dataDir, 'service'))
  try {
    for (const folder of [dataDir, join(dataDir, 'service')])
      expect(demo('--data-dir', folder, '--key', 'ak_not_a_key_of_it').stderr).toContain(
        `The service at ${service.url()} refused: `,
      )
  } finally {
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

it('says in one line that no service responds', () => {
  expect(demo('--url', 'http://127.0.0.1:1', '--key', 'ak_none')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'No service responds at http://127.0.0.1:1: is it running?\n',
  })
})
