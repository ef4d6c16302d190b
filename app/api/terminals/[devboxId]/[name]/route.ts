import { closeTerminal } from '#lib/gateway/terminals/held.ts'

export const DELETE = async (request: Request, { params }: { params: Promise<{ devboxId: string; name: string }> }) => {
  const { devboxId, name } = await params
  return closeTerminal(request, devboxId, name)
}
