import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ownDocker } from '#lib/service/testing/docker.ts'
import { startService } from '#lib/service/testing/service.ts'

const rounds = 20
const run = promisify(execFile)

/** Devboxes of a container engine against the docker command on the same engine, alternately. */
export const benchContainers = async () => {
  const docker = await ownDocker()
  const image = await docker.image('busybox')
  const service = await startService({ isolation: 'container', engine: docker.url, image })
  const command = (...args: string[]) => run('docker', ['-H', docker.url, ...args])
  try {
    const id = await service.devbox()
    await command('run', '-d', '--network', 'bridge', '--name', 'plain', image, 'sleep', '10000')
    await compare('create to running', 1.3, {
      ours: () => service.devbox(),
      docker: () => command('run', '-d', '--network', 'bridge', image, 'sleep', '10000'),
    })
    await compare('execute_sync', 1.5, {
      ours: () => service.run(id, 'true'),
      docker: () => command('exec', 'plain', 'true'),
    })
  } finally {
    await service.close()
    await docker.close()
  }
}

const compare = async (
  what: string,
  limit: number,
  { ours, docker }: Record<'ours' | 'docker', () => Promise<unknown>>,
) => {
  const measured: { ours: number; docker: number }[] = []
  const timed = async (action: () => Promise<unknown>) => {
    const startMs = performance.now()
    await action()
    return performance.now() - startMs
  }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) measured.push({ ours: await timed(ours), docker: await timed(docker) })
  const median = (of: 'ours' | 'docker') =>
    measured
      .slice(1)
      .map((each) => each[of])
      .sort((a, b) => a - b)[rounds / 2] ?? 0
  const ratio = median('ours') / median('docker')
  console.log(
    `${what}: ${median('ours').toFixed(0)} ms, docker ${median('docker').toFixed(0)} ms, ratio ${ratio.toFixed(2)} (<= ${limit})`,
  )
}
