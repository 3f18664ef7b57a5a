"""What a new study begins with: a consent and a warning in both languages, for its lead to complete."""

from core.language import Language

CONSENT: dict[Language, str] = {
    "en": """# Consent

You are asked to judge texts for a study on language. Please read this before you begin.

- Taking part is free. You may stop at any time by closing the page, or withdraw: then your labels no longer count.
- Your labels are stored under a random name; who you are is stored apart from them. What all of you said is published
  in counts, single labels only if you allow it.
- The texts come from books, news, or language models. Some may hurt; each text can be skipped.
""",
    "zh": """# 知情同意

我们请您为一项语言研究判断文本。开始之前请阅读以下内容。

- 参加与否由您决定。您可以随时关闭页面停止，也可以退出研究：退出后您的标注不再计入。
- 您的标注以随机化名保存，您的身份与标注分开保存。公开的是所有人标注的计数；只有经您同意，单个标注才会公开。
- 文本来自书籍、新闻或语言模型，其中有些可能令人不适；每条文本都可以跳过。
""",
}
WARNING: dict[Language, str] = {
    "en": "Some of the texts may hold insults, violence or demeaning remarks about people. You may skip any of them.",
    "zh": "部分文本可能含有侮辱、暴力或贬低他人的内容。任何一条都可以跳过。",
}
