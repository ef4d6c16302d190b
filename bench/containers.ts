import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ownDocker } from '#lib/service/testing/docker.ts'
import { startService } from '#lib/service/testing/service.ts'
import { compare } from './compare.ts'

const median = { rounds: 20, quantile: 0.5 }
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
    await compare('create to running', {
      limit: 1.3,
      ...median,
      ours: () => service.devbox(),
      docker: () => command('run', '-d', '--network', 'bridge', image, 'sleep', '10000'),
    })
    await compare('execute_sync', {
      limit: 1.5,
      ...median,
      ours: () => service.run(id, 'true'),
      docker: () => command('exec', 'plain', 'true'),
    })
  } finally {
    await service.close()
    await docker.close()
  }
}
