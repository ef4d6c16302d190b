import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { pythonSeconds, TrialError } from '../outcome.ts'
import { outputTail, Workbench } from '../workbench.ts'
import type { AgentDefinition } from './definition.ts'

interface Options {
  devboxes: Devboxes
  executions: Executions
  folder: string
}

interface Installing {
  account: string
  scenarioRunId: string
  definition: AgentDefinition
  signal: AbortSignal
}

/** Unspecified: the maximum size of an install. */
const maxArchiveBytes = 8 * 2 ** 30

/**
 * Installs an agent once per account, in a separate devbox, where no task can change the result. In a container of an
 * image, where a copy might not run, each trial installs it as Harbor does.
 */
export class AgentInstalls {
  readonly #options: Options
  readonly #running = new Map<string, Promise<void>>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Copies the agent's folder into the devbox of a trial, installing it first if needed. Throws a TrialError. */
  async provide(workbench: Workbench, installing: Installing): Promise<void> {
    const { definition, account, signal } = installing
    const { name } = definition
    if (definition.install === null) return
    if (workbench.isImage) return runInstall(workbench, installing)
    const archive = join(this.#options.folder, `${keyOf(account, definition)}.tar`)
    while (!existsSync(archive)) {
      const known = this.#running.get(archive)
      const install = known ?? this.#install(archive, installing).finally(() => this.#running.delete(archive))
      if (!known) this.#running.set(archive, install)
      try {
        await install
      } catch (error) {
        signal.throwIfAborted()
        // The trial that installed was canceled, not this one.
        if (known && !(error instanceof TrialError)) continue
        throw error
      }
    }
    await workbench.unpack(archive, parentOf(workbench), name)
  }

  async #install(archive: string, installing: Installing): Promise<void> {
    const { devboxes, executions, folder } = this.#options
    const { definition, account, scenarioRunId, signal } = installing
    const { name } = definition
    const { id: devboxId } = await devboxes.create(
      account,
      { name: `install of ${name}`, launch_parameters: { keep_alive_time_seconds: 2 * 3600 } },
      { initiatorType: 'scenario', initiatorId: scenarioRunId },
    )
    const workbench = new Workbench({ account, devboxId, devboxes, executions, signal })
    const partFile = `${archive}.${randomBytes(6).toString('hex')}`
    try {
      await workbench.started(signal)
      await runInstall(workbench, installing)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await workbench.pack(partFile, parentOf(workbench), name, maxArchiveBytes)
      await rename(partFile, archive)
    } finally {
      await rm(partFile, { force: true })
      await devboxes.shutdown(account, devboxId, { force: true })
    }
  }
}

const runInstall = async (workbench: Workbench, { definition, signal }: Installing): Promise<void> => {
  const { name, install, installSeconds, env } = definition
  const message = `Agent setup timed out after ${pythonSeconds(installSeconds)} seconds`
  const tools = workbench.isImage ? `${installTools(install ?? '')}\n` : ''
  const finished = await workbench.run(
    `${tools}mkdir -p -- "$HARBOR_AGENT_FOLDER" && cd -- "$HARBOR_AGENT_FOLDER" || exit\n${install}`,
    {
      env: { ...env, HARBOR_AGENT_FOLDER: agentFolder(workbench, name) },
      user: null,
      signal,
      limit: {
        seconds: installSeconds,
        error: (killed) => new TrialError('AgentSetupTimeoutError', withOutput(message, outputTail(killed))),
      },
    },
  )
  if (finished.exitStatus !== 0)
    throw setupError(
      withOutput(
        `Agent ${name} could not be installed: its install command failed with exit code ${finished.exitStatus}`,
        outputTail(finished),
      ),
    )
}

/** Images often lack what an install command calls. */
const installTools = (install: string): string => {
  const tools = ['curl', 'git', 'npm', 'python3'].filter((tool) => new RegExp(`\\b${tool}\\b`).test(install))
  return `missing=; for tool in ${tools.join(' ')}; do command -v $tool >/dev/null || missing="$missing $tool"; done
if [ "$missing" ]; then
  if command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -qq --no-install-recommends ca-certificates $missing
  elif command -v apk >/dev/null; then apk add --no-cache $missing
  elif command -v dnf >/dev/null; then dnf install -y $missing
  fi >/dev/null
fi`
}

export const clearInstalls = async (folder: string, isRunning: boolean): Promise<number> => {
  const names = await readdir(folder).catch(() => [])
  const archives = names.filter((name) => name.endsWith('.tar'))
  for (const name of isRunning ? archives : names) await rm(join(folder, name), { force: true })
  return archives.length
}

export const setupError = (message: string): TrialError => new TrialError('AgentSetupError', message)

const withOutput = (message: string, output: string) => (output ? `${message}: ${output}` : message)

/** The same in every isolated devbox, because programs may contain their path. */
const parentOf = (workbench: Workbench) => `${workbench.tmp}/.agents`
export const agentFolder = (workbench: Workbench, name: string): string => `${parentOf(workbench)}/${name}`

/** Raise it when the location of installs changes. */
const installVersion = 2

const keyOf = (account: string, { name, install, version, env }: AgentDefinition): string =>
  createHash('sha256')
    .update(JSON.stringify([installVersion, account, name, install, version, env]))
    .digest('hex')
    .slice(0, 32)
