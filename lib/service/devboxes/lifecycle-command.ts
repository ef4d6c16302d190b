import { type RunningDevbox, spawnIn } from '#lib/service/engine/engine.ts'
import type { Pipes } from '#lib/service/engine/pipes.ts'
import { OutputPipes } from '#lib/service/engine/pipes.ts'
import { waitForExit } from '#lib/service/engine/processes.ts'
import { bashCommand } from '#lib/service/engine/run-file.ts'
import type { CommandLog } from '#lib/service/store/logs/command-log.ts'

const notStarted = 126

interface LifecycleCommand extends Pick<RunningDevbox, 'sandbox' | 'env' | 'runFolder'> {
  pipes: Pipes
  command: string
  log: CommandLog
}

export const runLifecycleCommand = async (command: LifecycleCommand): Promise<number> => {
  const exitStatus = await run(command).catch((error: Error) => {
    command.log.output('stderr', Buffer.from(`devdeck: could not start the command: ${error.message}\n`))
    return notStarted
  })
  command.log.end(exitStatus)
  return exitStatus
}

const run = async ({ pipes, command, log, ...devbox }: LifecycleCommand): Promise<number> => {
  const { argv } = await bashCommand(devbox, command)
  let isDone = false
  const output = await OutputPipes.open(pipes, (stream, reader) =>
    reader.on('data', (chunk: Buffer) => {
      if (!isDone) log.output(stream, chunk)
    }),
  )
  try {
    const launch = devbox.sandbox.launch({ argv, env: devbox.env })
    const child = spawnIn(launch, { detached: true, stdio: ['ignore', ...output.writeEnds] })
    output.closeWriteEnds()
    return await waitForExit(child)
  } finally {
    output.closeWriteEnds()
    await output.drained()
    isDone = true
  }
}
