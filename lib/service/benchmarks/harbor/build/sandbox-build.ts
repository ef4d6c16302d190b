import { open, readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Machine } from '#lib/service/engine/bubblewrap/system.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Warning } from '../../outcome.ts'
import { shown, type Workbench } from '../../workbench.ts'
import { lackIn } from '../lack.ts'
import { findSources, type Source } from './context.ts'
import { SandboxBuildFailedError } from './dockerfile.ts'
import { fetchScript } from './fetch.ts'
import { isDoneAlready } from './machine-packages.ts'
import { type BuildPlan, type BuildStep, neededStages, type RunMount } from './plan.ts'
import { installedFile, putBuildPrograms, skippedFile, withBuildPrograms } from './programs.ts'

interface Build {
  /** Where the files are that a COPY names. */
  context: string
  /** In a system of its own installs are tried. */
  machine: Machine
  signal: AbortSignal
  /** Called, at the end, with each install that was skipped. */
  warn: (warning: Warning) => void
  /** Called, at the end, with each install, whether it was made, needed none as all that it names is here, or skipped. */
  installed: (call: string) => void
  /** Makes a devbox for a stage that comes before the image. */
  openStage: (stage: BuildPlan) => Promise<Stage>
}

export interface Stage {
  workbench: Workbench
  close: () => Promise<void>
}

/**
 * Does in a devbox what a Dockerfile says, and in others what the stages say that it copies from. Throws a
 * SandboxBuildFailedError that names the line.
 */
export const buildSandbox = async (workbench: Workbench, plan: BuildPlan, build: Build) => {
  const opened = new Map<number, Stage>()
  const stages = (number: number) => opened.get(number)?.workbench
  try {
    for (const number of neededStages(plan)) {
      const stage = plan.stages[number] as BuildPlan
      const open = await build.openStage(stage)
      opened.set(number, open)
      await followSteps(open.workbench, stage, { ...build, stages })
    }
    await followSteps(workbench, plan, { ...build, stages })
  } finally {
    await Promise.all([...opened.values()].map((stage) => stage.close()))
  }
}

type Stages = (number: number) => Workbench | undefined

const followSteps = async (
  workbench: Workbench,
  plan: BuildPlan,
  { context, machine, signal, warn, installed, stages }: Build & { stages: Stages },
) => {
  const programs = `${workbench.runFolder}/build`
  const hasRun = plan.steps.some(({ kind }) => kind === 'run')
  if (hasRun) {
    const { script, env } = putBuildPrograms(programs, machine)
    await workbench.must(script, env, signal)
  }
  try {
    for (const step of plan.steps) await doStep(workbench, step, { context, machine, signal, programs, stages })
  } finally {
    if (hasRun) await tellSkipped(workbench, programs, { warn, installed })
  }
}

const tellSkipped = async (
  workbench: Workbench,
  programs: string,
  { warn, installed }: Pick<Build, 'warn' | 'installed'>,
) => {
  try {
    const skipped = (await workbench.read(skippedFile(programs))) ?? ''
    const done = (await workbench.read(installedFile(programs))) ?? ''
    for (const call of done.split('\n')) installed(call)
    await workbench.must('rm -rf -- "$FOLDER"', { FOLDER: programs })
    for (const sentence of skipped.split('\n').filter(Boolean)) {
      const [, how, call = ''] = /: (skipped|failed): (.*?)(?: \(it failed with .*)?$/.exec(sentence) ?? []
      const isDone = how === undefined || (how === 'skipped' && (await isDoneAlready(call)))
      // One that failed is told, and what it was to bring is in the image all the same.
      if (isDone || how === 'skipped') installed(call)
      warn({ sentence, differs: !isDone })
    }
  } catch (error) {
    // The devbox has ended, which the build or the next step reports.
    warn({ sentence: `What was skipped is not known: ${(error as Error).message}`, differs: true })
  }
}

interface Surroundings {
  context: string
  machine: Machine
  signal: AbortSignal
  programs: string
  stages: Stages
}

const doStep = async (workbench: Workbench, step: BuildStep, surroundings: Surroundings): Promise<void> => {
  const { context, machine, signal, programs, stages } = surroundings
  try {
    switch (step.kind) {
      case 'workdir':
        return await workbench.must('mkdir -p -- "$FOLDER"', { FOLDER: step.path }, signal)
      case 'run': {
        const env = withBuildPrograms(programs, step.line, { HOME: '/root', ...step.env }, machine)
        const script = `exec ${step.argv.map(quote).join(' ')}`
        const finished = await withMounts(workbench, step.mounts, surroundings, () =>
          workbench.run(script, { env, cwd: step.cwd, user: step.user, signal }),
        )
        // What a step leaves running ends with it, and is in no image.
        await workbench.must('kill -9 -1 2>/dev/null || true', {}, signal)
        if (finished.exitStatus !== 0)
          throw new Error(`RUN ${step.said} ended with exit code ${finished.exitStatus}: ${shown(finished)}`)
        return
      }
      case 'write':
        await workbench.write(step.to, step.content)
        if (step.mode) await workbench.must('chmod -- "$MODE" "$FILE"', { MODE: step.mode, FILE: step.to }, signal)
        if (step.owner) await workbench.must(giveTo(quote(step.to)), { OWNER: step.owner }, signal)
        return
      case 'fetch': {
        const { url, to, checksum, mode, owner } = step
        const env = { URL: url, FILE: to, SUM: checksum ?? '', MODE: mode ?? '600', OWNER: owner ?? '' }
        const script = `${fetchScript}${owner ? giveTo('"$FILE"') : ''}`
        const finished = await workbench.run(script, { env, cwd: '/', user: null, signal })
        if (finished.exitStatus !== 0) throw new Error(`ADD ${url} could not be fetched: ${shown(finished)}`)
        return
      }
      case 'copy': {
        const stage = step.from === null ? undefined : stages(step.from)
        return stage
          ? await copyFromStage(stage, workbench, step, signal)
          : await copy(workbench, step, context, signal)
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    const { message } = error as Error
    // Builds have a network in Docker, whatever the task has later, and every file of the image is root's there.
    const differs =
      (step.kind === 'run' || step.kind === 'fetch') && (lackIn(message, true) !== undefined || !machine.hasUsers)
    throw new SandboxBuildFailedError(`Dockerfile line ${step.line}: ${message}`, { differs })
  }
}

type CopyStep = Extract<BuildStep, { kind: 'copy' }>
type CopyPlace = 'sources' | 'to' | 'isFolder' | 'mode' | 'owner'

/** Puts in place what the mounts of a RUN show it, aside what is there, and puts that back afterwards. */
const withMounts = async <T>(
  workbench: Workbench,
  mounts: readonly RunMount[],
  { context, stages, signal }: Pick<Surroundings, 'context' | 'stages' | 'signal'>,
  use: () => Promise<T>,
): Promise<T> => {
  const [mount, ...others] = mounts
  if (!mount) return use()
  const { source, target } = mount
  const aside = posix.join(posix.dirname(target), `.devdeck-aside-${others.length}`)
  const env = { TARGET: target, ASIDE: aside }
  await workbench.must(putAside, env, signal)
  try {
    const place = { to: target, mode: null, owner: null }
    const stage = source && source.from !== null ? stages(source.from) : undefined
    if (stage && source)
      await copyFromStage(stage, workbench, { ...place, sources: [source.path], isFolder: false }, signal)
    else if (source)
      await copy(workbench, { ...place, sources: [source.path], isFolder: false, extracts: false }, context, signal)
    else await workbench.must('mkdir -m 1777 -p -- "$TARGET"', env, signal)
    return await withMounts(workbench, others, { context, stages, signal }, use)
  } finally {
    await workbench.must(putBack, env, signal)
  }
}

const putAside = 'mkdir -p -- "$(dirname -- "$TARGET")"; if [ -e "$TARGET" ]; then mv -T -- "$TARGET" "$ASIDE"; fi'
const putBack = 'cd / && rm -rf -- "$TARGET"; if [ -e "$ASIDE" ]; then mv -T -- "$ASIDE" "$TARGET"; fi'

const copy = async (
  workbench: Workbench,
  { sources, to, isFolder, mode, owner, extracts }: Pick<CopyStep, CopyPlace | 'extracts'>,
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
    if (owner) await give(workbench, source, { to, owner }, signal)
  }
}

/** Unpacks an archive as ADD does, told by what is in it and not by its name; false for a file of another kind. */
const extract = async (
  workbench: Workbench,
  { path, name, isFolder }: Source,
  to: string,
  signal: AbortSignal,
): Promise<boolean> => {
  if (isFolder || !(await isPacked(path))) return false
  const file = `/tmp/${name}`
  await workbench.sendFile(path, { to: file, name, isFolder: false, mode: null }, signal)
  const env = { FOLDER: to, FILE: file }
  // Of a short file that is none tar says nothing at all.
  const list = 'tar -t -f "$FILE" 2>/dev/null | head -c 1'
  const isArchive = (await workbench.run(list, { env, cwd: '/', user: null, signal })).stdout !== ''
  const unpack = 'mkdir -p -- "$FOLDER" && tar -x --no-same-owner -f "$FILE" -C "$FOLDER" && '
  await workbench.must(`${isArchive ? unpack : ''}rm -f -- "$FILE"`, env, signal)
  return isArchive
}

/** Whether a file begins as an archive of tar does, or as one of the compressed files that may hold one. */
const isPacked = async (path: string): Promise<boolean> => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0)
    const begin = buffer.toString('latin1', 0, bytesRead)
    return begin.startsWith('ustar', 257) || compressed.some((mark) => begin.startsWith(mark))
  } finally {
    await file.close()
  }
}

/** How gzip, bzip2, xz and zstd begin. */
const compressed = ['\x1f\x8b', 'BZh', '\xfd7zXZ', '\x28\xb5\x2f\xfd']

const copyFromStage = async (
  stage: Workbench,
  workbench: Workbench,
  { sources, to, isFolder, mode, owner }: Pick<CopyStep, CopyPlace>,
  signal: AbortSignal,
): Promise<void> => {
  for (const source of sources) {
    const { stdout } = await stage.run(findInStage, {
      env: { PATTERN: posix.join('/', source) },
      cwd: '/',
      user: null,
      signal,
    })
    const found = stdout.split('\n').filter(Boolean)
    if (found.length === 0) throw new Error(`there is no ${source} in the stage it is copied from`)
    for (const line of found) {
      const [kind = '', ...path] = line.split(' ')
      const into = isFolder || found.length > 1 ? 'into' : 'file'
      await stage.handOut(
        workbench,
        path.join(' '),
        { to, kind: kind === 'folder' ? 'folder' : into, mode, owner },
        signal,
      )
    }
  }
}

const findInStage = `shopt -s dotglob
if [[ -e $PATTERN ]]; then found=("$PATTERN"); else mapfile -t found < <(compgen -G "$PATTERN"); fi
for each in "\${found[@]}"; do if [[ -d $each ]]; then echo "folder $each"; else echo "file $each"; fi; done`

/** As Docker reads an owner: without a group, the number of the user is that of the group as well. */
const giveTo = (files: string, before = '') =>
  `${before}if [[ $OWNER != *:* ]]; then OWNER=$(id -u -- "$OWNER" 2>/dev/null || echo "$OWNER"); OWNER=$OWNER:$OWNER; fi
chown -h -- "$OWNER" ${files}`

/** Gives to the owner what was copied, and nothing that was there before. */
const give = async (
  workbench: Workbench,
  source: Source,
  { to, owner }: { to: string; owner: string },
  signal: AbortSignal,
): Promise<void> => {
  const env = { OWNER: owner, FOLDER: to, NAME: source.name }
  if (!source.isFolder) return workbench.must(giveTo('"$FILE"', wherePut), env, signal)
  const below = source.only ?? (await readdir(source.path, { recursive: true }))
  await workbench.must(giveTo([to, ...below.map((name) => `${to}/${name}`)].map(quote).join(' ')), env, signal)
}

/** A file comes into a folder that is there. */
const wherePut = 'FILE=$FOLDER; if [[ -d $FOLDER ]]; then FILE+=/$NAME; fi\n'
