import * as z from 'zod/mini'
import {
  definedOnly,
  type FileRow,
  fieldIn,
  fileMountsOf,
  filesOf,
  type LaunchValues,
  launchParametersOf,
  launchValuesOf,
  launchWireFields,
  mapOf,
  rowsOf,
  unlessEmpty,
} from '#components/devboxes/create/form-schema.ts'
import type { KeyValueRow } from '#components/ui/key-values.ts'
import { type Blueprint, BlueprintCreate } from '#lib/contract/blueprints.ts'

/** Fields named as in the devbox form share its components. */
export interface BlueprintFormValues extends LaunchValues {
  name: string
  base: 'default' | 'blueprint'
  /** An id, or the name below. */
  baseBlueprint: string
  /** Set if the copied blueprint names its base. */
  baseBlueprintName: string
  dockerfile: string
  setupCommands: string
  files: FileRow[]
  buildArguments: KeyValueRow[]
  /** Variable names and secret names. */
  secrets: KeyValueRow[]
  metadata: KeyValueRow[]
  /** Parameters without a field, copied from another blueprint. */
  otherBuild: Partial<BlueprintCreate>
}

export const emptyBlueprint: BlueprintFormValues = {
  ...launchValuesOf({}),
  name: '',
  base: 'default',
  baseBlueprint: '',
  baseBlueprintName: '',
  dockerfile: '',
  setupCommands: '',
  files: [],
  buildArguments: [],
  secrets: [],
  metadata: [],
  otherBuild: {},
}

export type BlueprintField = keyof BlueprintFormValues

/** One command per line; a line that ends in a backslash continues. */
const commandsOf = (text: string): string[] =>
  text
    .split(/(?<!\\)\n/)
    .map((command) => command.trim())
    .filter((command) => command !== '')

const toRequest = (
  values: BlueprintFormValues,
  fail: (field: BlueprintField, message: string) => void,
): BlueprintCreate => {
  const mapIn = (field: 'buildArguments' | 'secrets' | 'metadata') =>
    unlessEmpty(mapOf(values[field], (message) => fail(field, message)))
  const name = values.name.trim()
  if (name === '') fail('name', 'Enter a name')
  const base = values.base === 'blueprint' ? values.baseBlueprint.trim() : ''
  if (values.base === 'blueprint' && base === '') fail('baseBlueprint', 'Select a blueprint')
  const commands = commandsOf(values.setupCommands)
  return definedOnly({
    ...values.otherBuild,
    name: name || 'unnamed',
    ...(base && { [base === values.baseBlueprintName ? 'base_blueprint_name' : 'base_blueprint_id']: base }),
    dockerfile: values.dockerfile.trim() === '' ? undefined : values.dockerfile,
    ...(commands.length > 0 && { system_setup_commands: commands }),
    file_mounts: unlessEmpty(fileMountsOf(values.files, (message) => fail('files', message))),
    build_args: mapIn('buildArguments'),
    secrets: mapIn('secrets'),
    launch_parameters: unlessEmpty(launchParametersOf(values, fail)),
    metadata: mapIn('metadata'),
  })
}

export const BlueprintForm = z.pipe(
  z.pipe(
    z.custom<BlueprintFormValues>(),
    z.transform((values: BlueprintFormValues, context) =>
      toRequest(values, (field, message) =>
        context.issues.push({ code: 'custom', path: [field], message, input: values[field] }),
      ),
    ),
  ),
  BlueprintCreate,
)

/** The values that build the same blueprint again. */
export const blueprintValuesLike = ({ parameters, metadata }: Blueprint): BlueprintFormValues => {
  const {
    name,
    base_blueprint_id,
    base_blueprint_name,
    dockerfile,
    system_setup_commands,
    file_mounts,
    build_args,
    secrets,
    launch_parameters,
    metadata: _metadata,
    ...others
  } = parameters
  const base = base_blueprint_id ?? base_blueprint_name ?? ''
  const commands = system_setup_commands ?? []
  const setupCommands = commands.join('\n')
  // Commands with line breaks of their own don't fit in the field.
  const fits = JSON.stringify(commandsOf(setupCommands)) === JSON.stringify(commands)
  return {
    ...launchValuesOf(launch_parameters ?? {}),
    name,
    base: base ? 'blueprint' : 'default',
    baseBlueprint: base,
    baseBlueprintName: base_blueprint_id ? '' : base,
    dockerfile: dockerfile ?? '',
    setupCommands: fits ? setupCommands : '',
    files: filesOf(file_mounts),
    buildArguments: rowsOf(build_args),
    secrets: rowsOf(secrets),
    metadata: rowsOf(metadata),
    otherBuild: Object.fromEntries(
      Object.entries({ ...others, ...(fits ? {} : { system_setup_commands: commands }) }).filter(
        ([, value]) => value != null,
      ),
    ),
  }
}

/** The form field for a request path in an error of the service. */
export const blueprintFieldOf = (path: string): BlueprintField | undefined => fieldIn(path, wireFields)

const wireFields: readonly (readonly [string, BlueprintField])[] = [
  ['name', 'name'],
  ['base_blueprint_id', 'baseBlueprint'],
  ['base_blueprint_name', 'baseBlueprint'],
  ['dockerfile', 'dockerfile'],
  ['system_setup_commands', 'setupCommands'],
  ['file_mounts', 'files'],
  ['build_args', 'buildArguments'],
  ['secrets', 'secrets'],
  ['metadata', 'metadata'],
  ...launchWireFields,
]
