"""What a new study begins with: a consent form with places for the facts of the study, and a warning."""

import re
from dataclasses import dataclass

from evenhand.core.language import Language

# A line with a place that has nothing to say, as payment where there is none, is left out.
CONSENT: dict[Language, str] = {
    "en": """# Consent to take part

You are invited to take part in a study on language. Please read this page before you decide.

- **Voluntary.** Participation is voluntary. You may stop or withdraw at any time, without giving a reason and without
  any disadvantage. To stop, close the page. If you withdraw, your labels no longer count; what was published before
  then stays as it is.
- **Task.** You judge {items}, one at a time.
- **Content.** The texts come from books, news, or language models. Some may be upsetting: they may contain insults,
  violence or demeaning remarks about people. You may skip texts.
- **Payment.** {payment}
- **What is stored.** Your answers and how long each took, under a random name; when you started and finished; that you
  agreed to this form. {identity}
- **How long.** {kept}
- **Publication.** Results are published in aggregate. Single labels are published only if you allow it.
- **Age.** By agreeing you confirm that you are at least {age} years old.
- **Questions.** For questions, or to withdraw, contact: {contact}
""",
    "zh": """# 知情同意书

我们邀请你参加一项语言研究。请在决定之前阅读以下内容。

- **自愿参加。** 参加与否完全自愿。你可以随时停止或退出，无须说明理由，也不会因此受到任何不利影响。关闭页面即停止；\
退出后，你的标注不再计入，此前已公开的内容保持不变。
- **任务。** 你将逐条判断 {items}。
- **内容。** 文本来自书籍、新闻或语言模型。部分文本可能令人不适，例如含有侮辱、暴力或贬低他人的内容。你可以跳过文本。
- **报酬。** {payment}
- **保存的内容。** 你的回答及每条所用时间，以随机化名保存；你开始和结束的时间；你同意本同意书的记录。{identity}
- **保存期限。** {kept}
- **公开。** 研究结果以汇总形式公开；只有经你允许，单个标注才会公开。
- **年龄。** 表示同意即确认你已年满 {age} 周岁。
- **咨询。** 如有疑问或希望退出，请联系：{contact}
""",
}
WARNING: dict[Language, str] = {
    "en": "Some of the texts may contain insults, violence or demeaning remarks about people. You may skip texts, or"
    " stop at any time.",
    "zh": "部分文本可能含有侮辱、暴力或贬低他人的内容。你可以跳过文本，也可以随时停止。",
}
ADULT = 18
_PLACE = re.compile(r"\{(items|payment|identity|kept|age|contact)\}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the lead states in a consent form.

    `ids_days`: how many days the ids of a recruitment service are stored, None: no service sends any. `kept_years`: how
    long labels are stored after the end of the study, 0: as long as the data set exists.
    """

    contact: str
    items: int
    reward: float
    currency: str
    ids_days: int | None
    age: int = ADULT
    kept_years: int = 0


def fill_in(text: str, language: Language, facts: Facts) -> str:
    """Return a consent form with the *facts* in their places."""
    values = (_in_chinese if language == "zh" else _in_english)(facts) | {
        "age": str(facts.age), "contact": facts.contact.strip(),
    }  # fmt: skip
    lines = [line for line in text.splitlines() if all(values[name] for name in _PLACE.findall(line))]
    return _PLACE.sub(lambda place: values[place[1]], "\n".join(lines))


def places(text: str) -> list[str]:
    """Return the places of a consent form that nothing was filled into."""
    return sorted({f"{{{name}}}" for name in _PLACE.findall(text)})


def _in_english(facts: Facts) -> dict[str, str]:
    pay = (
        f"You receive {facts.reward:,.2f} {facts.currency} when you have finished; withdrawing afterwards does not"
        " change this."
    )
    kept = f"Your labels are stored for {_number(facts.kept_years, 'year')} after the end of the study."
    ids = (
        "The ids from the recruitment service, which can identify you, are stored separately from your answers and"
        f" erased {_number(facts.ids_days or 0, 'day')} after you have finished or left."
    )
    return {
        "items": _number(facts.items, "text"),
        "payment": pay if facts.reward else "",
        "identity": "Your name and your IP address are not stored." if facts.ids_days is None else ids,
        "kept": kept if facts.kept_years else "Your labels are stored as long as the data set exists.",
    }


def _in_chinese(facts: Facts) -> dict[str, str]:
    pay = f"完成后你将获得 {facts.reward:,.2f} {facts.currency}；完成之后再退出不影响报酬。"
    kept = f"你的标注保存至研究结束后 {facts.kept_years} 年。"
    ids = f"招募平台传来的编号可能识别你的身份，与回答分开保存，并在你完成或离开 {facts.ids_days} 天后删除。"
    return {
        "items": f"{facts.items} 条文本",
        "payment": pay if facts.reward else "",
        "identity": "不保存你的姓名和 IP 地址。" if facts.ids_days is None else ids,
        "kept": kept if facts.kept_years else "你的标注在数据集存续期间一直保存。",
    }


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
