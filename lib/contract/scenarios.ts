import * as z from 'zod/mini'
import {
  ById,
  Id,
  Metadata,
  metadataOperations,
  nullishFields,
  openEnum,
  pageEnvelope,
  pageQuery,
  StringMap,
  sortQuery,
} from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'
import { LaunchParameters } from './launch-parameters.ts'
import { listQuery } from './query-string.ts'

export const definitionStatuses = ['active', 'archived'] as const
export const validationTypes = ['UNSPECIFIED', 'FORWARD', 'REVERSE', 'EVALUATION'] as const
export const defaultScorerTimeoutSeconds = 1800
export const weightTolerance = 0.001

const scorerMessage = 'must be 1 to 128 letters, digits, - or _'
const shortName = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,128}$/, scorerMessage))

export const Scorer = z.discriminatedUnion('type', [
  z.object({ type: z.literal('command_scorer'), command: z.nullish(z.string()) }),
  /** Prints a line `score=<number>`. */
  z.object({ type: z.literal('bash_script_scorer'), bash_script: z.nullish(z.string()) }),
  z.object({
    type: z.literal('python_script_scorer'),
    python_script: z.string(),
    python_version_constraint: z.nullish(z.string()),
    requirements_contents: z.nullish(z.string()),
  }),
  z.object({
    type: z.literal('test_based_scorer'),
    test_command: z.nullish(z.string()),
    test_files: z.nullish(
      z.array(z.object({ file_path: z.nullish(z.string()), file_contents: z.nullish(z.string()) })),
    ),
  }),
  z.object({
    type: z.literal('ast_grep_scorer'),
    pattern: z.string(),
    search_directory: z.string(),
    lang: z.nullish(z.string()),
  }),
  /** Registered at /v1/scenarios/scorers. Receives its parameters in RL_SCORER_CONTEXT. */
  z.object({ type: z.literal('custom_scorer'), custom_scorer_type: z.string(), scorer_params: z.nullish(z.unknown()) }),
])
export type Scorer = z.infer<typeof Scorer>
export type ScorerType = Scorer['type']

export const ScoringFunction = z.object({ name: shortName, weight: z.number().check(z.minimum(0)), scorer: Scorer })
export type ScoringFunction = z.infer<typeof ScoringFunction>

const scoringFunctions = z.array(ScoringFunction).check(
  z.minLength(1, 'must have at least one scoring function'),
  z.refine(
    (functions) => Math.abs(functions.reduce((sum, { weight }) => sum + weight, 0) - 1) <= weightTolerance,
    'must have weights that sum to 1',
  ),
  z.refine(
    (functions) => new Set(functions.map(({ name }) => name)).size === functions.length,
    'must have unique scoring function names',
  ),
)
export const ScoringContract = z.object({ scoring_function_parameters: scoringFunctions })

export const InputContext = z.object({
  problem_statement: z.string(),
  additional_context: z.nullish(z.unknown()),
})

export const ScenarioEnvironment = z.object({
  blueprint_id: z.nullish(z.string()),
  snapshot_id: z.nullish(z.string()),
  launch_parameters: z.nullish(LaunchParameters),
  working_directory: z.nullish(z.string()),
})

export const Scenario = z.object({
  id: z.string(),
  name: z.string(),
  input_context: InputContext,
  metadata: StringMap,
  scoring_contract: z.object({ scoring_function_parameters: z.array(ScoringFunction) }),
  status: openEnum(definitionStatuses),
  environment: z.nullish(ScenarioEnvironment),
  is_public: z.nullish(z.boolean()),
  reference_output: z.nullish(z.string()),
  required_environment_variables: z.nullish(z.array(z.string())),
  required_secret_names: z.nullish(z.array(z.string())),
  scorer_timeout_sec: z.nullish(z.int()),
  validation_type: z.nullish(openEnum(validationTypes)),
})
export type Scenario = z.infer<typeof Scenario>

const name = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(256, 'must be at most 256 characters'))
const optionalFields = {
  environment_parameters: z.nullish(ScenarioEnvironment),
  metadata: z.nullish(Metadata),
  reference_output: z.nullish(z.string()),
  required_environment_variables: z.nullish(z.array(z.string())),
  required_secret_names: z.nullish(z.array(z.string())),
  scorer_timeout_sec: z.nullish(z.int().check(z.minimum(1))),
  validation_type: z.nullish(z.enum(validationTypes)),
}
export const ScenarioCreate = z.object({
  name,
  input_context: InputContext,
  scoring_contract: ScoringContract,
  ...optionalFields,
})
export type ScenarioCreate = z.infer<typeof ScenarioCreate>
export const ScenarioUpdate = z.object({
  name: z.nullish(name),
  input_context: z.nullish(z.object(nullishFields(InputContext.shape))),
  scoring_contract: z.nullish(z.object(nullishFields(ScoringContract.shape))),
  ...optionalFields,
  validation_type: z.nullish(z.enum([...validationTypes, ''])),
})
export type ScenarioUpdate = z.infer<typeof ScenarioUpdate>

export const ScenarioList = z.object({ scenarios: z.array(Scenario), ...pageEnvelope })
export type ScenarioList = z.infer<typeof ScenarioList>
export const ScenarioListQuery = z.object({
  benchmark_id: z.optional(Id),
  /** Extension: scenarios of a job, including those of its Harbor tasks, which other lists omit. */
  benchmark_job_id: z.optional(Id),
  validation_type: z.optional(z.enum(validationTypes)),
  ...sortQuery(['name', 'status', 'id']),
  ...listQuery,
})
export type ScenarioListQuery = z.output<typeof ScenarioListQuery>

export const CustomScorer = z.object({ id: z.string(), type: z.string(), bash_script: z.string() })
export type CustomScorer = z.infer<typeof CustomScorer>
export const CustomScorerInput = z.object({ type: shortName, bash_script: z.string().check(z.minLength(1)) })
export type CustomScorerInput = z.infer<typeof CustomScorerInput>

export const scenarios = defineEndpoints('scenarios', 'stable', {
  list: get('/v1/scenarios', json(ScenarioList), { query: ScenarioListQuery }),
  listPublic: get('/v1/scenarios/list_public', json(ScenarioList), { query: ScenarioListQuery }),
  create: post('/v1/scenarios', json(Scenario), { body: ScenarioCreate }),
  ...metadataOperations('/v1/scenarios'),
  listScorers: get('/v1/scenarios/scorers', json(z.object({ scorers: z.array(CustomScorer), ...pageEnvelope })), {
    query: z.object(pageQuery),
  }),
  createScorer: post('/v1/scenarios/scorers', json(CustomScorer), { body: CustomScorerInput }),
  getScorer: get('/v1/scenarios/scorers/:id', json(CustomScorer), { params: ById }),
  updateScorer: post('/v1/scenarios/scorers/:id', json(CustomScorer), { params: ById, body: CustomScorerInput }),
  get: get('/v1/scenarios/:id', json(Scenario), { params: ById }),
  update: post('/v1/scenarios/:id', json(Scenario), { params: ById, body: ScenarioUpdate }),
  archive: post('/v1/scenarios/:id/archive', json(Scenario), { params: ById }),
  unarchive: post('/v1/scenarios/:id/unarchive', json(Scenario), { params: ById }),
})
