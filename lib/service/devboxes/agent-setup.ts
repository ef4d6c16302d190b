import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentSource } from '#lib/contract/agents.ts'
import { quote } from '#lib/service/kit/quoting.ts'

export const setupFile = 'agent-setup.json'

/** A command that installs an agent in a new devbox, before the launch commands. */
export interface SetupStep {
  command: string
  env?: Record<string, string>
}

/** Kept until the steps are done. May hold a token. */
export const writeSetup = (folder: string, steps: readonly SetupStep[]): Promise<void> =>
  writeFile(join(folder, setupFile), JSON.stringify(steps), { mode: 0o600 })

export const readSetup = async (folder: string): Promise<SetupStep[]> => {
  const text = await readFile(join(folder, setupFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return '[]'
  })
  return JSON.parse(text) as SetupStep[]
}

interface Install {
  source: AgentSource
  version: string | null | undefined
  /** Path of the agent's folder as shell text. Undefined for npm and pip. */
  folder: string | undefined
  token: string | null | undefined
}

export const setupStepsOf = ({ source, version, folder, token }: Install): SetupStep[] => {
  const { type, npm, pip, git } = source
  const steps: SetupStep[] = []
  if (type === 'npm' && npm) {
    const wanted = npm.npm_version ?? version
    const registry = npm.registry_url ? `--registry ${quote(npm.registry_url)} ` : ''
    const spec = quote(npm.package_name + (wanted ? `@${wanted}` : ''))
    steps.push({ command: `npm install --global --prefix "$HOME/.local" ${registry}${spec}` })
  }
  if (type === 'pip' && pip) {
    const wanted = pip.pip_version ?? version ?? ''
    const index = pip.registry_url ? `--index-url ${quote(pip.registry_url)} ` : ''
    const spec = quote(pip.package_name + (/^(|[<>=!~].*)$/.test(wanted) ? wanted : `==${wanted}`))
    // Debian's pip refuses to install for a user without the variable.
    steps.push({ command: `PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --user ${index}${spec}` })
  }
  if (type === 'git' && git && folder) {
    const ref = git.ref ?? version
    const checkout = ref ? ` && git -C ${folder} checkout --quiet ${quote(ref)} --` : ''
    const command = `git clone --quiet -- ${quote(git.repository)} ${folder}${checkout}`
    steps.push({ command, env: { GIT_TERMINAL_PROMPT: '0', ...(token && tokenFor(git.repository, token)) } })
  }
  const inFolder = folder ? `cd ${folder} || exit\n` : ''
  for (const command of source[type]?.agent_setup ?? []) steps.push({ command: inFolder + command })
  return steps
}

/** Passes the token in variables, because commands are logged, and only to the repository's own host. */
const tokenFor = (repository: string, token: string): Record<string, string> => ({
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: `http.${URL.parse(repository)?.origin}/.extraHeader`,
  GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
})
