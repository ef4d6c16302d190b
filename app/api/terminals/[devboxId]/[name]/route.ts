import { closeTerminal } from '#lib/gateway/terminals/held.ts'

export const dynamic = 'force-dynamic'

interface Place {
  params: Promise<{ devboxId: string; name: string }>
}

export const DELETE = async (request: Request, { params }: Place) => {
  const { devboxId, name } = await params
  return closeTerminal(request, devboxId, name)
}
