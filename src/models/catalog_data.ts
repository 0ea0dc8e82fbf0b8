/**
 * The embedded catalogue: one model a line, by provider. It is a snapshot of public price lists as gathered by the
 * litellm project (release 1.110.2, MIT licence) and as old as `CATALOG_DATE`; an empty field is unknown, not zero.
 *
 *   provider|id|window|most output|input|output|cache read|cache write|abilities|efforts|tier
 *
 * Prices are US dollars per million tokens. Abilities: v sees images, r thinks, t calls tools. Efforts beside low,
 * medium and high: n none, m minimal, x xhigh, a max. A tier `N:input,output,read,write` holds for calls with a
 * prompt of more than N tokens.
 */

/** The day the snapshot was taken, ISO. */
export const CATALOG_DATE = "2026-11-30";

export const CATALOG_DATA = `
openai-api|gpt-4.1|1047576|32768|2|8|0.5||vt
openai-api|gpt-4.1-mini|1047576|32768|0.4|1.6|0.1||vt
openai-api|gpt-4o|128000|16384|2.5|10|1.25||vt
openai-api|gpt-4o-mini|128000|16384|0.15|0.6|0.075||vt
openai-api|gpt-5|400000|128000|1.25|10|0.125||vrt|m
openai-api|gpt-5.1|400000|128000|1.25|10|0.125||vrt|n
openai-api|gpt-5.2|400000|128000|1.75|14|0.175||vrt|nx
openai-api|gpt-5.2-pro|400000|128000|21|168|||vrt|mx
openai-api|gpt-6-astra|1050000|128000|10|50|1|12.5|vrt|xa|272000:20,75,2,25
openai-api|gpt-6-sol|1050000|128000|2|10|0.2|2.5|vrt|nxa|272000:4,15,0.4,5
openai-api|gpt-6-luna|1050000|128000|0.1|0.5|0.01|0.125|vrt|nxa|272000:0.2,0.75,0.02,0.25
openai-api|gpt-5.6|1050000|128000|4|20|0.4|5|vrt|nx|272000:8,30,0.8,10
openai-api|gpt-5.6-sol|1050000|128000|4|20|0.4|5|vrt|nx|272000:8,30,0.8,10
openai-api|gpt-5.6-terra|1050000|128000|2|12|0.2|2.5|vrt|nx|272000:4,18,0.4,5
openai-api|gpt-5.6-luna|1050000|128000|0.2|1.2|0.02|0.25|vrt|nx|272000:0.4,1.8,0.04,0.5
openai-api|gpt-5.5|1050000|128000|5|30|0.5||vrt|nx|272000:10,45,1,
openai-api|gpt-5.5-pro|1050000|128000|30|180|||vrt|x|272000:60,270,,
openai-api|gpt-5.4|1050000|128000|2.5|15|0.25||vrt|nx|272000:5,22.5,0.5,
openai-api|gpt-5.4-pro|1050000|128000|30|180|||vrt|x|272000:60,270,,
openai-api|gpt-5.4-mini|400000|128000|0.75|4.5|0.075||vrt|nx
openai-api|gpt-5.4-nano|400000|128000|0.2|1.25|0.02||vrt|nx
openai-api|gpt-5-pro|400000|272000|15|120|||vrt|m
openai-api|gpt-5.3-codex|400000|128000|1.75|14|0.175||vrt|nx
openai-api|gpt-5-mini|400000|128000|0.25|2|0.025||vrt|m
openai-api|gpt-5-nano|400000|128000|0.05|0.4|0.005||vrt|m
openai-api|o3|200000|100000|2|8|0.5||vrt
openai-api|o3-pro|200000|100000|20|80|||vrt
openai-api|gpt-6.1-sol|1050000|128000|2|10|0.1|2.5|vrt|xa|272000:4,15,0.2,5
openai-api|gpt-6.1-terra|1050000|128000|1|5|0.05|1.25|vrt|nxa|272000:2,7.5,0.1,2.5
anthropic|claude-haiku-4-5|200000|64000|1|5|0.1|1.25|vrt
anthropic|claude-sonnet-5|1000000|128000|2|10|0.2|2.5|vrt|xa
anthropic|claude-sonnet-5-5|1000000|128000|2|10|0.1|2.5|vrt|xa
anthropic|claude-sonnet-4-6|1000000|128000|3|15|0.3|3.75|vrt|a
anthropic|claude-opus-4-5|200000|64000|5|25|0.5|6.25|vrt
anthropic|claude-opus-4-6|1000000|128000|5|25|0.5|6.25|vrt|a
anthropic|claude-opus-4-7|1000000|128000|5|25|0.5|6.25|vrt|xa
anthropic|claude-fable-5|1000000|128000|10|50|1|12.5|vrt|xa
anthropic|claude-fable-5-1|1000000|128000|10|50|0.25|12.5|vrt|xa
anthropic|claude-opus-5-5|1000000|128000|4|20|0.2|5|vrt|xa
anthropic|claude-opus-5|1000000|128000|5|25|0.5|6.25|vrt|xa
anthropic|claude-opus-4-8|1000000|128000|5|25|0.5|6.25|vrt|xa
anthropic|claude-mythos-5|1000000|128000|10|50|1|12.5|vrt|xa
anthropic|claude-mythos-5-1|1000000|128000|10|50|0.25|12.5|vrt|xa
anthropic|claude-haiku-5-5|1000000|128000|0.1|0.5|0.01|0.125|vrt|xa|100000:0.5,2.5,0.05,0.625
xai|grok-4.3|1000000||1.25|2.5|0.2||vrt||200000:2.5,5,0.4,
xai|grok-4.5|500000||2|6|0.3||vrt||200000:4,12,0.6,
xai|grok-4.6|500000||2|6|0.5||vrt||200000:4,12,1,
xai|grok-4.7|500000||2|6|0.5||vrt||200000:4,12,1,
xai|grok-build-0.1|256000||1|2|0.2||vrt||200000:2,4,0.4,
xai|grok-4.20|1000000||1.25|2.5|0.2||vrt||200000:2.5,5,0.4,
xai|grok-4.20-reasoning|1000000||1.25|2.5|0.2||vrt||200000:2.5,5,0.4,
xai|grok-4.20-non-reasoning|1000000||1.25|2.5|0.2||vt||200000:2.5,5,0.4,
xai|grok-code-fast|256000||1|2|0.2||vrt||200000:2,4,0.4,
deepseek|deepseek-v3.2|163840||0.28|0.4|0.028||rt
deepseek|deepseek-flash|1000000|393216|0.3|1.2|0.006||vrt
deepseek|deepseek-v4-flash|1000000|393216|0.3|1.2|0.006||vrt
deepseek|deepseek-v4-pro|1000000|393216|1.32|3.96|0.044||rt
gemini|gemini-2.5-flash|1048576|65536|0.3|2.5|0.03||vrt
gemini|gemini-2.5-flash-lite|1048576|65536|0.1|0.4|0.01||vrt
gemini|gemini-2.5-pro|1048576|65536|1.25|10|0.125||vrt||200000:2.5,15,0.25,
gemini|gemini-3.1-flash-lite|1048576|65536|0.25|1.5|0.025||vrt
gemini|gemini-3.5-flash-lite|1048576|65536|0.3|2.5|0.03||vrt
gemini|gemini-3-flash-preview|1048576|65536|0.5|3|0.05||vrt
gemini|gemini-3.5-flash|1048576|65536|1.5|9|0.15||vrt
gemini|gemini-3.6-flash|1048576|65536|0.75|3.75|0.075||vrt
gemini|gemini-3.7-flash|1048576|65536|0.75|3.75|0.075||vrt
gemini|gemini-3.8-flash|1048576|65536|0.75|3.75|0.075||vrt
gemini|gemini-3.1-pro-preview|1048576|65536|2|12|0.2||vrt||200000:4,18,0.4,
gemini|gemini-4-argon|1048576||2|10|0.1||vrt
gemini|gemini-4-hydrogen|1048576||1.5|7.5|0.075||vrt|x
kimi-coding|kimi-k2.7-code|262144||0.95|4|0.19||vrt
kimi-coding|kimi-k2.6|262144||0.95|4|0.16||vrt
kimi-coding|kimi-k3.1-pro|1048576||2|10|0.2|2|vrt
kimi-coding|kimi-k3.1-pro-highspeed|1048576||4|20|0.2|4|vrt
kimi-coding|kimi-k3|1048576||3|15|0.3|3|vrt
minimax|MiniMax-M2.1|||0.3|1.2|0.03|0.375|rt
minimax|MiniMax-M2.1-lightning|||0.3|2.4|0.03|0.375|rt
minimax|MiniMax-M2.5|||0.3|1.2|0.03|0.375|rt
minimax|MiniMax-M2.5-lightning|||0.3|2.4|0.03|0.375|rt
minimax|MiniMax-M2|||0.3|1.2|0.03|0.375|rt
minimax|MiniMax-M3|1000000|128000|0.3|1.2|0.06||vrt||512000:0.6,2.4,0.12,
zai|glm-5|200000|128000|1|3.2|0.2||rt
zai|glm-5.3|1000000|128000|1.4|4.4|0.26||rt
zai|glm-5.3-flash|1048576|128000|0.15|0.5|0.03||vrt
zai|glm-5v-turbo|200000|128000|1.2|4|0.24||vrt
zai|glm-5.1|200000|128000|1.4|4.4|0.26||rt
zai|glm-5-code|200000|128000|1.2|5|0.3||rt
zai|glm-4.7|200000|128000|0.6|2.2|0.11||rt
zai|glm-4.7-flash|200000|128000|0|0|0||rt
zai|glm-4.6|200000|128000|0.6|2.2|0.11||rt
zai|glm-4.5|128000|32000|0.6|2.2|||t
zai|glm-4.5v|128000|32000|0.6|1.8|||vt
zai|glm-4.5-x|128000|32000|2.2|8.9|||t
zai|glm-4.5-air|128000|32000|0.2|1.1|||t
zai|glm-4.5-airx|128000|32000|1.1|4.5|||t
zai|glm-4.5-flash|128000|32000|0|0|||t
zai|glm-5.2|1000000|128000|1.4|4.4|0.26||rt
`;
