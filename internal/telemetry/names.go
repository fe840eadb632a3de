package telemetry

// Attributes and operations as OpenTelemetry's semantic conventions 1.41 name them. They are still in development
// there, so they stand here and not in an import that renames them with each version.
const (
	attrOperation      = "gen_ai.operation.name"
	attrProvider       = "gen_ai.provider.name"
	attrRequestModel   = "gen_ai.request.model"
	attrRequestStream  = "gen_ai.request.stream"
	attrTemperature    = "gen_ai.request.temperature"
	attrResponseModel  = "gen_ai.response.model"
	attrFinishReasons  = "gen_ai.response.finish_reasons"
	attrFirstChunk     = "gen_ai.response.time_to_first_chunk" // seconds
	attrInputTokens    = "gen_ai.usage.input_tokens"
	attrOutputTokens   = "gen_ai.usage.output_tokens"
	attrConversation   = "gen_ai.conversation.id" // the thread
	attrWorkflow       = "gen_ai.workflow.name"
	attrDataSource     = "gen_ai.data_source.id" // the collections
	attrTokenType      = "gen_ai.token.type"
	attrInputMessages  = "gen_ai.input.messages"       // content
	attrOutputMessages = "gen_ai.output.messages"      // content
	attrInstructions   = "gen_ai.system_instructions"  // content
	attrQueryText      = "gen_ai.retrieval.query.text" // content
	attrDocuments      = "gen_ai.retrieval.documents"  // ids and scores, no text
	attrErrorType      = "error.type"
	attrMethod         = "http.request.method"
	attrMCPMethod      = "mcp.method.name"
	attrRoute          = "http.route"
	attrStatus         = "http.response.status_code"

	opWorkflow   = "invoke_workflow"
	opRetrieval  = "retrieval"
	opChat       = "chat"
	opEmbeddings = "embeddings"
	opRerank     = "rerank" // ours: the conventions have none
)

// Attributes of our own.
const (
	attrNode     = "ragflow.node"
	attrRun      = "ragflow.run.id"
	attrStep     = "ragflow.step"
	attrSkipped  = "ragflow.skipped" // the node had nothing to do
	attrWarnings = "ragflow.warnings"
	attrRetries  = "ragflow.retries"
	attrRequest  = "ragflow.request.id" // X-Request-Id
)

// Attributes of OpenInference, which Phoenix reads.
const (
	inferKind     = "openinference.span.kind"
	inferSession  = "session.id"
	inferInput    = "input.value"  // content
	inferOutput   = "output.value" // content
	inferPrompt   = "llm.token_count.prompt"
	inferReply    = "llm.token_count.completion"
	inferTotal    = "llm.token_count.total"
	inferDocument = "retrieval.documents.%d.document.%s"
)

// Kinds of spans in OpenInference.
const (
	kindChain     = "CHAIN"
	kindRetriever = "RETRIEVER"
	kindModel     = "LLM"
	kindEmbedding = "EMBEDDING"
	kindReranker  = "RERANKER"
)

// Tags of metrics. None of them names a thread, a person or a question.
const (
	tagRetriever = "retriever_type"
	tagProvider  = "provider"
	tagModel     = "model"
	tagError     = "error_type"
	tagStage     = "stage"
)
