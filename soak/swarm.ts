import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Client } from '#lib/client/client.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { ownSwarm, swarmFlags } from '#lib/service/testing/swarm.ts'
import { quantileOf } from '../bench/compare.ts'
import { withService } from './process.ts'

const devboxes = 60
const atOnce = 6
const commandsPerSecond = 20
const maxRatio = 1.5

const run = promisify(execFile)

interface SwarmReport {
  commands: number
  /** Commands per second, at most 20. */
  rate: number
  perNode: Record<string, number>
  createSeconds: number
  oursMs: number
  dockerMs: number
  problems: string[]
}

/** Runs commands in 60 devboxes on three nodes at a constant rate, along with a `docker exec` once a second. */
export const soakSwarm = async (seconds: number): Promise<SwarmReport> => {
  const swarm = await ownSwarm()
  const image = await swarm.image('base')
  const flags = [...swarmFlags(swarm.choice), '--image', image, '--max-devboxes', String(2 * devboxes)]
  try {
    return await withService(flags, async ({ client }) => {
      const problems: string[] = []
      const boxes: { id: string; node: (typeof swarm.nodes)[number]; containerId: string; written: number }[] = []
      const startMs = performance.now()
      let started = 0
      const lane = async () => {
        while (started++ < devboxes) {
          const body = { launch_parameters: { resource_size_request: 'X_SMALL' as const } }
          const { id } = await client.devboxes.create({ body })
          const placed = await untilRunning(client, id)
          const node = swarm.nodes.find(({ hostname }) => hostname === placed?.node?.hostname)
          const filters = { label: [`devdeck.devbox=${id}`] }
          const containers = await node?.api.json<{ Id: string }[]>('GET', '/containers/json', { query: { filters } })
          const containerId = containers?.[0]?.Id
          if (node && containerId) boxes.push({ id, node, containerId, written: 0 })
          else problems.push(`devbox ${id} has no container`)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
      const createSeconds = (performance.now() - startMs) / 1000
      const perNode = Object.fromEntries(
        swarm.nodes.map(({ hostname }) => [hostname, boxes.filter(({ node }) => node.hostname === hostname).length]),
      )

      const times = { ours: [] as number[], docker: [] as number[] }
      const timed = async (of: 'ours' | 'docker', action: () => Promise<unknown>) => {
        const startMs = performance.now()
        await action().catch((error: Error) => problems.push(`${of}: ${error.message}`))
        times[of].push(performance.now() - startMs)
      }
      const running = new Set<Promise<void>>()
      const start = (action: Promise<void>) => {
        running.add(action)
        void action.finally(() => running.delete(action))
      }
      const begunMs = performance.now()
      const total = seconds * commandsPerSecond
      for (let sent = 0; sent < total; sent++) {
        const box = boxes[sent % boxes.length]
        if (!box) break
        // More would only wait for the CPU.
        while (running.size >= boxes.length) await Promise.race(running)
        const command = `echo ${sent} | tee -a ~/commands`
        start(
          timed('ours', async () => {
            const execution = await client.executions.executeSync({ params: { id: box.id }, body: { command } })
            const { stdout, stderr, exit_status } = execution
            if (stdout === `${sent}\n`) box.written++
            else problems.push(`command ${sent} printed ${JSON.stringify({ stdout, stderr, exit_status })}`)
          }),
        )
        // In the devbox whose next command is furthest away.
        const other = boxes[(sent + boxes.length / 2) % boxes.length]
        if (other && sent % commandsPerSecond === 0) {
          const args = ['-H', other.node.url, 'exec', other.containerId, '/bin/sh', '-c', 'echo x | tee -a /tmp/x']
          start(timed('docker', () => run('docker', args)))
        }
        await delay(Math.max(0, begunMs + ((sent + 1) * 1000) / commandsPerSecond - performance.now()))
      }
      await Promise.all(running)
      const rate = total / ((performance.now() - begunMs) / 1000)
      for (const { id, written } of boxes) {
        const body = { command: 'wc -l < ~/commands' }
        const { stdout } = await client.executions.executeSync({ params: { id }, body })
        if (Number(stdout) !== written) problems.push(`devbox ${id} has ${stdout.trim()} of ${written} lines`)
      }
      const [oursMs, dockerMs] = [quantileOf(times.ours, 0.99), quantileOf(times.docker, 0.99)]
      if (oursMs > maxRatio * dockerMs) problems.push(`execute_sync took more than ${maxRatio} times docker exec`)
      return { commands: times.ours.length, rate, perNode, createSeconds, oursMs, dockerMs, problems }
    })
  } finally {
    await swarm.close()
  }
}

/** Undefined if it takes minutes. */
const untilRunning = async (client: Client, id: string): Promise<Devbox | undefined> => {
  for (let i = 0; i < 10; i++) {
    const devbox = await client.devboxes
      .waitForStatus({ params: { id }, body: { statuses: ['running', 'failure'] } })
      .catch((error: { status?: number }) => {
        if (error.status !== 408) throw error
      })
    if (devbox) return devbox
  }
  return undefined
}
