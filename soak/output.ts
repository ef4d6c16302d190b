import { residentMiB, withService } from './process.ts'

/** Streams `megabytes` of output to one reader. Returns the time and the service's memory growth. */
export const streamOutput = (megabytes: number): Promise<{ seconds: number; grownMiB: number }> =>
  withService(['--isolation', 'none'], async ({ client, pid }) => {
    const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
    const stream = async (count: number) => {
      const { execution_id } = await client.executions.executeAsync({
        params: { id },
        body: { command: `head -c ${count}000000 /dev/zero | tr '\\0' x` },
      })
      let bytes = 0
      for await (const { output } of client.executions.streamStdout({ params: { devbox_id: id, execution_id } }))
        bytes += output.length
      if (bytes !== count * 1e6) throw new Error(`${count} MB were written, but ${bytes} bytes arrived`)
    }
    // Buffers and compiled code are not growth.
    await stream(16)
    const before = residentMiB(pid, 'VmRSS')
    const start = performance.now()
    await stream(megabytes)
    const seconds = (performance.now() - start) / 1000
    return { seconds, grownMiB: Math.max(0, residentMiB(pid, 'VmHWM') - before) }
  })
