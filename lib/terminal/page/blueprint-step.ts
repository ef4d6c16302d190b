/**
 * A command as the part of a blueprint that runs it while the image is built: `system_setup_commands` of
 * `POST /v1/blueprints`. Several lines become one step, as they were one command.
 */
export const blueprintStep = (command: string): string =>
  JSON.stringify({ system_setup_commands: [command.trim()] }, null, 2)
