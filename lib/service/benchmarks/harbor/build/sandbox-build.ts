import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Machine } from '#lib/service/engine/bubblewrap/system.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Warning } from '../../outcome.ts'
import { outputTail, type Workbench } from '../../workbench.ts'
import { findSources, type Source } from './context.ts'
import { SandboxBuildFailedError } from './dockerfile.ts'
import type { BuildPlan, BuildStep } from './plan.ts'

export type BuildBench = Pick<Workbench, 'runFolder' | 'run' | 'must' | 'send' | 'sendFile' | 'read'>

interface Build {
  context: string
  machine: Machine
  signal: AbortSignal
  warn: (warning: Warning) => void
  /** Called before each step; the function it returns, after. */
  onStep?: (step: BuildStep) => () => Promise<void>
  /** Runs commands without the programs that record installs. */
  isPlain?: boolean
}

export const buildSandbox = async (workbench: BuildBench, plan: BuildPlan, build: Build): Promise<void> => {
  const { machine, signal } = build
  const programs = programsOf(workbench)
  const recordsInstalls = !build.isPlain && plan.steps.some(({ kind }) => kind === 'run')
  if (recordsInstalls) {
    const { script, env } = putBuildPrograms(programs, machine)
    await workbench.must(script, env, signal)
  }
  try {
    for (const step of plan.steps) {
      const ended = build.onStep?.(step)
      await runStep(workbench, step, programs, build)
      await ended?.()
    }
  } finally {
    if (recordsInstalls) await reportInstalls(workbench, programs, build)
  }
}

const reportInstalls = async (workbench: BuildBench, programs: string, { warn }: Build) => {
  try {
    const skipped = await skippedInstalls(workbench)
    await workbench.must('rm -rf -- "$FOLDER"', { FOLDER: programs })
    for (const each of skipped) warn(each)
  } catch (error) {
    // The devbox has ended, which the next step reports.
    warn({ sentence: `Skipped installs are unknown: ${(error as Error).message}`, differs: true })
  }
}

/** The installs that failed so far, and downloads that a pipe may hide. Those that change nothing don't differ. */
export const skippedInstalls = async (workbench: BuildBench): Promise<Warning[]> => {
  const sentences = ((await workbench.read(skippedFile(programsOf(workbench)))) ?? '').split('\n').filter(Boolean)
  return Promise.all(
    sentences.map(async (sentence) => {
      const [, how, call = ''] = /: (skipped|failed): (.*?)(?: \(exit code .*)?$/.exec(sentence) ?? []
      const isInstalled = how === undefined || (how === 'skipped' && (await isAlreadyInstalled(call)))
      return { sentence, differs: !isInstalled }
    }),
  )
}

const programsOf = ({ runFolder }: BuildBench) => `${runFolder}/build`

const runStep = async (workbench: BuildBench, step: BuildStep, programs: string, build: Build): Promise<void> => {
  const { context, machine, signal } = build
  try {
    if (step.kind === 'workdir') await workbench.must('mkdir -p -- "$FOLDER"', { FOLDER: step.path }, signal)
    else if (step.kind === 'copy') await copy(workbench, step, context, signal)
    else {
      const own = { HOME: '/root', ...step.env }
      const env = build.isPlain ? own : withBuildPrograms(programs, step.line, own, machine)
      const script = `exec ${step.argv.map(quote).join(' ')}`
      const finished = await workbench.run(script, { env, cwd: step.cwd, user: step.user, signal })
      // No image contains a running process.
      await workbench.must('kill -9 -1 2>/dev/null || true', {}, signal)
      if (finished.exitStatus !== 0)
        throw new Error(`RUN ${step.text} failed with exit code ${finished.exitStatus}: ${outputTail(finished)}`)
    }
  } catch (error) {
    signal.throwIfAborted()
    const { message } = error as Error
    // In Docker, the command might succeed.
    throw new SandboxBuildFailedError(`Dockerfile line ${step.line}: ${message}`, { differs: step.kind === 'run' })
  }
}

const copy = async (
  workbench: BuildBench,
  { sources, to, isFolder, mode, owner, extracts }: Extract<BuildStep, { kind: 'copy' }>,
  context: string,
  signal: AbortSignal,
): Promise<void> => {
  const found = await findSources(context, sources)
  for (const source of found) {
    if (extracts && (await extract(workbench, source, to, signal))) continue
    if (source.isFolder) await workbench.send(source.path, to, { mode, only: source.only, signal })
    else {
      const isInto = isFolder || found.length > 1
      await workbench.sendFile(source.path, { to, name: source.name, isFolder: isInto, mode }, signal)
    }
    if (owner) await changeOwner(workbench, source, { to, owner }, signal)
  }
}

const extract = async (
  workbench: BuildBench,
  { path, name, isFolder }: Source,
  to: string,
  signal: AbortSignal,
): Promise<boolean> => {
  if (isFolder) return false
  const file = `/tmp/.devdeck-add-${name}`
  await workbench.sendFile(path, { to: file, name, isFolder: false, mode: null }, signal)
  const env = { FOLDER: to, FILE: file }
  const list = 'tar -t -f "$FILE" 2>/dev/null | head -c 1'
  const isArchive = (await workbench.run(list, { env, cwd: '/', user: null, signal })).stdout !== ''
  const unpack = 'mkdir -p -- "$FOLDER" && tar -x --no-same-owner -f "$FILE" -C "$FOLDER" && '
  await workbench.must(`${isArchive ? unpack : ''}rm -f -- "$FILE"`, env, signal)
  return isArchive
}

/** Gives the copied files to their owner, and no file that was there before. */
const changeOwner = async (
  workbench: BuildBench,
  source: Source,
  { to, owner }: { to: string; owner: string },
  signal: AbortSignal,
): Promise<void> => {
  const below = source.isFolder ? (source.only ?? (await readdir(source.path, { recursive: true }))) : []
  const folder = [to, ...below.map((name) => `${to}/${name}`)].map(quote).join(' ')
  // As in Docker: without a group, the group has the user's number. A file is copied into an existing folder.
  const script = `if [[ $OWNER != *:* ]]; then OWNER=$(id -u -- "$OWNER" 2>/dev/null || echo "$OWNER"); OWNER=$OWNER:$OWNER; fi
FILE=$FOLDER; if [[ -d $FOLDER ]]; then FILE+=/$NAME; fi
chown -h -- "$OWNER" ${source.isFolder ? folder : '"$FILE"'}`
  await workbench.must(script, { OWNER: owner, FOLDER: to, NAME: source.name }, signal)
}

/** True if a call of apt changes nothing: all its packages are on this machine, whose /usr devboxes share. */
const isAlreadyInstalled = async (call: string): Promise<boolean> => {
  const [program = '', ...words] = call.split(/\s+/)
  if (!['apt', 'apt-get', 'aptitude'].includes(program)) return false
  const [command = '', ...names] = words.filter((word) => !word.startsWith('-'))
  if (['update', 'clean', 'autoclean', 'autoremove'].includes(command)) return true
  if (command !== 'install' || names.length === 0) return false
  const { stdout } = await promisify(execFile)('dpkg', ['--get-selections'], { maxBuffer: 64 * 1024 * 1024 }).catch(
    () => ({ stdout: '' }),
  )
  const installed = new Set(
    stdout.split('\n').flatMap((line) => /^([^\s:]+)\S*\s+(install|hold)$/.exec(line)?.[1] ?? []),
  )
  return names.every((name) => installed.has(name))
}

const installers = [
  ...['apt', 'apt-get', 'apt-key', 'apt-mark', 'aptitude', 'add-apt-repository', 'dpkg', 'apk', 'pacman', 'brew'],
  ...['yum', 'dnf', 'microdnf', 'zypper', 'rpm', 'locale-gen', 'update-ca-certificates', 'corepack'],
  ...['pip', 'pip3', 'pipx', 'uv', 'poetry', 'conda', 'mamba', 'micromamba', 'npm', 'pnpm', 'yarn', 'bun'],
  ...['gem', 'bundle', 'cargo', 'go', 'sudo', 'curl', 'wget', 'git'],
]
/** Programs that a devbox with a single user cannot run. */
const userPrograms = ['useradd', 'adduser', 'groupadd', 'addgroup', 'usermod', 'chown', 'chgrp', 'chpasswd', 'passwd']

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

export const putBuildPrograms = (folder: string, { hasSystem, hasUsers }: Machine) => ({
  script: `mkdir -p -- "$FOLDER/python/pip" && cd -- "$FOLDER" && printf %s "$PIP" >python/pip/__init__.py &&
: >skipped && printf %s "$PROGRAM" >apt && chmod +x apt && printf %s "$APT" >apt.conf && chmod 711 .. && chmod 666 skipped && for name in $NAMES; do [ -e "$name" ] || ln -s apt "$name" || exit; done`,
  env: {
    FOLDER: folder,
    PROGRAM: read('program.sh'),
    PIP: read('pip.py'),
    NAMES: [...installers, ...(hasUsers ? [] : userPrograms), ...(hasSystem ? [] : ['mkdir'])].join(' '),
    APT: aptSettings,
  },
})

// Fails at once without a network instead of after minutes of retries.
const aptSettings =
  'Acquire::Retries "0"; Acquire::http::Timeout "10"; Acquire::https::Timeout "10"; APT::Sandbox::User "root";'
const failFast = {
  PIP_RETRIES: '0',
  PIP_DEFAULT_TIMEOUT: '15',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_ROOT_USER_ACTION: 'ignore',
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  DEBIAN_FRONTEND: 'noninteractive',
}

export const withBuildPrograms = (
  folder: string,
  line: number,
  env: Record<string, string>,
  { hasSystem }: Machine,
) => ({
  ...(hasSystem && { ...failFast, APT_CONFIG: `${folder}/apt.conf`, DEVDECK_BUILD_TRIES: '1' }),
  ...env,
  PATH: `${folder}:${env.PATH}`,
  DEVDECK_BUILD_PROGRAMS: folder,
  PYTHONPATH: [`${folder}/python`, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':'),
  DEVDECK_DOCKERFILE_LINE: String(line),
})

const skippedFile = (folder: string) => `${folder}/skipped`
