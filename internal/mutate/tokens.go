package mutate

import "strings"

// tokens are what the formats are made of that the targets read: Markdown, HTML,
// XML, tables, JSON, PDF, source code, queries, answers, and what is awkward in
// Unicode.
//
//nolint:gochecknoglobals // a constant table
var tokens = append(strings.Split(strings.TrimSpace(`
#
## A
> 
- 
  - 
1. 
1)
* * *
---
+++
===
...
~~~
@@@
[a](b)
![a](b "c")
[a]: b
[^1]
[^1]: 
**
__
~~
| a | b |
|---|:-:|
|
\|
{{< a >}}
{{% a %}}
:::
!!! note
    
.. code::
::
title: x
tags: [a, b]
: &a *a
import X from 'x'
export const a = {
</a>
<p>
</p>
<h1>
<h2 id="a">
<ul><li>
<table><tr><td>
<td rowspan=65535 colspan=65535>
</table>
<pre><code>
</code></pre>
<script>
</script>
<style>
<title>
<textarea>
<plaintext>
<template>
<svg>
<![CDATA[
]]>
<!--
-->
<!DOCTYPE html>
<?php
?>
<base href="//x">
<meta charset=utf-16>
&amp;
&#0;
&#x110000;
&nbsp
<w:p><w:r><w:t>
</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc>
<text:p>
<text:s text:c="99999"/>
<?xml version="1.0"?>
<!DOCTYPE a [<!ENTITY b "cc">]>
{
}
[
]
{"a":
"b"}
,
;
\"
\u0000
\ud800
null
1e999
-0
0x
"cells": [
"source": ["a"]
a,b,c
"a""b"
%PDF-1.7
1 0 obj
endobj
stream
endstream
<</Length 9>>
BT /F1 9 Tf (a) Tj ET
xref
trailer
startxref
func f() {
class A:
def f(a):
function a() {
/*
*/
//
#!/bin/sh
cat <<E
$a$
CREATE TABLE a (b int);
r#"
'a
end
=begin
=end
package a
"a phrase"
-word
path:a
a=b
a!~**
a>=1
[Source 1]
[Source 1, 2]
[Sources 1-9]
SCORE: 0.5
REFINED: 
e.g. 
Mr. A. B. 
24.000 đồng
1,500.25
2024-01-31
v1.2.3
docker-compose.yml
--mount
C++
don't
Nghị định 123/NĐ-CP
Điều 5. 
thành phố
日本語。
한국어
ภาษาไทย
العربية
עברית
İıſß
`), "\n"),
	" ", "\t", "\n", "\r\n", "\r", "\v", "\f", "\n\n", "\n\n\n\n", "```", "```go\n", "`", "``", "\n```\n", "\x00", "\x1b[31m", "\x7f", "\u0085",
	"\u00a0", "\u00ad", "\u0301", "\u0345\u0316", "\u200b", "\u200d", "\u200e", "\u202e", "\u2066", "\u2069", "\u2028", "\u2029", "\u3000", "\ufeff", "\ufffd", "\uffff",
	"\U000e0041", "\U0001f469\u200d\U0001f467", "\U0010ffff", "ﬁ", "Å", "①", "\xff", "\xfe\xff", "\xff\xfe", "\xc3", "\xed\xa0\x80", "\xf0\x9f", "\xf8\x80",
	"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x80\x80\x80\x10", "PK\x03\x04", "\x1f\x8b",
)
