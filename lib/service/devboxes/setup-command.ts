import { type RunningDevbox, spawnIn } from '#lib/service/engine/engine.ts'
import type { Pipes } from '#lib/service/engine/pipes.ts'
import { OutputPipes } from '#lib/service/engine/pipes.ts'
import { waitForExit } from '#lib/service/engine/processes.ts'
import { bashCommand } from '#lib/service/engine/run-file.ts'
import type { CommandLog } from '#lib/service/store/logs/command-log.ts'

const notStarted = 126

interface SetupCommand extends Pick<RunningDevbox, 'sandbox' | 'env' | 'runFolder'> {
  pipes: Pipes
  command: string
  log: CommandLog
}

/** Runs a launch or suspend command, or the entrypoint, to its end; answers its exit status as a shell tells it. */
export const runSetupCommand = async (command: SetupCommand): Promise<number> => {
  const exitStatus = await run(command).catch((error: Error) => {
    command.log.output('stderr', Buffer.from(`devdeck: the command could not be started: ${error.message}\n`))
    return notStarted
  })
  command.log.end(exitStatus)
  return exitStatus
}

const run = async ({ pipes, command, log, ...devbox }: SetupCommand): Promise<number> => {
  const { argv } = await bashCommand(devbox, command)
  let isOver = false
  const output = await OutputPipes.open(pipes, (stream, reader) =>
    reader.on('data', (chunk: Buffer) => {
      // What processes in the background write later is read and dropped: a closed pipe would end them.
      if (!isOver) log.output(stream, chunk)
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
    isOver = true
  }
}
