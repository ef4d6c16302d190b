import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { AgentInstalls } from '#lib/service/benchmarks/agents/installs.ts'
import { Environments } from '#lib/service/benchmarks/environments.ts'
import { checksumOf } from '#lib/service/benchmarks/harbor/datasets.ts'
import { runHarborTrial, type TrialOptions, type TrialResult } from '#lib/service/benchmarks/harbor/trial.ts'
import type { HarborAgent, HarborSettings } from '#lib/service/benchmarks/plan.ts'
import { Blueprints } from '#lib/service/blueprints/blueprints.ts'
import { defaultMaxEnvironmentBytes } from '#lib/service/config.ts'
import { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { bubblewrapProblem, createBubblewrap } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import { Executions } from '#lib/service/executions/executions.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { Objects } from '#lib/service/objects/objects.ts'
import { Snapshots } from '#lib/service/snapshots/snapshots.ts'
import { createAgentStore } from '#lib/service/store/agents.ts'
import { createBlueprintStore } from '#lib/service/store/blueprints.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createDevboxStore } from '#lib/service/store/devboxes.ts'
import { createExecutionStore } from '#lib/service/store/executions.ts'
import { DevboxLogs } from '#lib/service/store/logs/logs.ts'
import { LostAndFound } from '#lib/service/store/lost-and-found.ts'
import { createNetworkPolicyStore } from '#lib/service/store/network-policies.ts'
import { createObjectStore } from '#lib/service/store/objects.ts'
import { createSecretStore } from '#lib/service/store/secrets.ts'
import { createSnapshotStore } from '#lib/service/store/snapshots.ts'
import { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { createTerminalStore } from '#lib/service/store/terminals.ts'
import { Terminals } from '#lib/service/terminals/terminals.ts'

export const sandboxProblem = await bubblewrapProblem()

export interface Trials {
  folder: string
  logged: readonly string[]
  devboxes: Devboxes
  secrets: ReturnType<typeof createSecretStore>
  run(
    task: Record<string, string | Uint8Array | null>,
    how?: Partial<TrialOptions> & { agentIs?: Partial<HarborAgent> },
  ): Promise<FinishedTrial>
  close(): Promise<void>
}

export interface FinishedTrial extends TrialResult {
  devboxId: string
  /** Contents of a log file; undefined if missing. */
  log(path: string): string | undefined
}

/** Starts the parts of a service that trials need. */
export const startTrials = ({ maxEnvironmentBytes = defaultMaxEnvironmentBytes } = {}): Trials => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-trials-')))
  const database = openDatabase(join(folder, 'test.db'))
  const folderOf = (devboxId: string) => join(folder, 'devboxes', devboxId)
  const logs = new DevboxLogs(folderOf)
  const serviceId = newId('test')
  const engine = createBubblewrap({
    serviceId,
    folderOf,
    snapshotFolderOf: (id) => join(folder, 'snapshots', id),
  })
  const executions = new Executions({
    store: createExecutionStore(database),
    folderOf,
    logs,
    maxPerAccount: 1000,
    quota: new StorageQuota(0),
  })
  const limits = {
    lostAndFound: new LostAndFound(folder),
    quota: new StorageQuota(0),
    synced: () => database.synced(),
  }
  const secrets = createSecretStore(database, join(folder, 'secrets-key'))
  const objects = new Objects({ ...limits, store: createObjectStore(database), folder: join(folder, 'objects') })
  const host = { serviceId, dataDir: folder, privateNetwork: false }
  const blueprints = new Blueprints({
    ...host,
    engine,
    store: createBlueprintStore(database),
    secrets,
    objects,
    images: undefined,
    plainImage: undefined,
    folder: join(folder, 'blueprints'),
    systemsFolder: join(folder, 'environments'),
    quota: new StorageQuota(0),
    networkOf: () => 'public',
  })
  const devboxes = new Devboxes({
    ...host,
    store: createDevboxStore(database),
    blueprints,
    maxPerAccount: 100,
    secrets,
    networkPolicies: createNetworkPolicyStore(database),
    agents: createAgentStore(database),
    objects,
    snapshots: new Snapshots({
      store: createSnapshotStore(database),
      folder: join(folder, 'snapshots'),
      engineOf: () => 'local',
      disksOf: () => engine.disks,
      ...limits,
    }),
    lostAndFound: limits.lostAndFound,
    logs,
    executions,
    terminals: new Terminals(0, createTerminalStore(database)),
    engineOf: () => engine,
    engineFor: () => 'local',
    folderOf,
  })
  const logged: string[] = []
  const environments = new Environments({
    folder: join(folder, 'environments'),
    devboxFolder: join(folder, 'devboxes'),
    maxBytes: maxEnvironmentBytes,
    log: (entry) => logged.push((entry as { message: string }).message),
  })
  const installs = new AgentInstalls({ devboxes, executions, folder: join(folder, 'agent-installs') })
  return {
    folder,
    logged,
    devboxes,
    secrets,
    async run(files, { agentIs, ...options } = {}) {
      const scenarioRunId = newId('scr')
      const path = writeTask(join(folder, 'tasks', scenarioRunId), files)
      const logFolder = join(folder, 'runs', scenarioRunId)
      let devboxId = ''
      const result = await runHarborTrial(
        { devboxes, executions, secrets, folderOf, installs, environments, images: undefined },
        {
          account: 'test',
          scenarioRunId,
          scenario: {
            id: 'scn_1',
            name: 'task',
            source: 'set',
            path,
            checksum: await checksumOf(path),
            metadata: {},
            warnings: [],
          },
          agent: { ...oracle, ...agentIs },
          settings,
          warnings: [],
          strictEnvironments: false,
          definition: null,
          attempt: 1,
          folder: logFolder,
          signal: new AbortController().signal,
          ...options,
          onDevbox: (id, isVerifier) => {
            if (!isVerifier) devboxId = id
            options.onDevbox?.(id, isVerifier)
          },
        },
      )
      return {
        ...result,
        devboxId,
        log: (file) => (existsSync(join(logFolder, file)) ? readFileSync(join(logFolder, file), 'utf8') : undefined),
      }
    },
    async close() {
      await devboxes.close()
      database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const noEnvironment = { variables: {}, secrets: {} }

export const oracle: HarborAgent = {
  name: 'oracle',
  modelName: null,
  command: null,
  kwargs: {},
  overrideTimeoutSeconds: null,
  maxTimeoutSeconds: null,
  nConcurrent: null,
  env: noEnvironment,
}

export const settings: HarborSettings = {
  timeoutMultiplier: 1,
  agentTimeoutMultiplier: null,
  verifierTimeoutMultiplier: null,
  buildTimeoutMultiplier: null,
  verifier: { overrideTimeoutSeconds: null, maxTimeoutSeconds: null, env: noEnvironment },
  environment: {
    overrideCpus: null,
    overrideMemoryMb: null,
    overrideStorageMb: null,
    forceBuild: false,
    env: noEnvironment,
  },
  extraInstructions: [],
}

/** Writes a minimal task directory with the given files; null omits a file. */
export const writeTask = (folder: string, files: Record<string, string | Uint8Array | null>): string => {
  const all = {
    'task.toml': 'version = "1.0"\n[agent]\ntimeout_sec = 600\n[verifier]\ntimeout_sec = 600\n',
    'instruction.md': 'Do it.\n',
    'environment/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\n',
    ...files,
  }
  for (const [name, content] of Object.entries(all)) {
    if (content === null) continue
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    if (name.endsWith('.sh')) chmodSync(path, 0o644)
  }
  return folder
}
