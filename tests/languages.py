"""Five short documents in each of eleven languages, as sentences, written for these tests."""

from __future__ import annotations

TITLES = {
    "de": "Stadtbibliothek",
    "fr": "Bibliothèque",
    "es": "Biblioteca municipal",
    "pt": "Biblioteca municipal",
    "it": "Biblioteca comunale",
    "nl": "Stadsbibliotheek",
    "ru": "Городская библиотека",
    "ar": "مكتبة المدينة",
    "hi": "नगर पुस्तकालय",
    "zh": "市图书馆",
    "ja": "市立図書館",
}


def joined(language: str, sentences: list[str]) -> str:
    """Return sentences as a text of this language."""
    return ("" if language in ("zh", "ja") else " ").join(sentences)


DOCUMENTS: dict[str, list[list[str]]] = {
    "de": [
        [
            "Die Stadtbibliothek schließt zum 31. Dezember für ein Jahr.",
            "Das teilte Dr. Vogel am Montag mit.",
        ],
        ["Der Umbau kostet rund 4,2 Mio. Euro.", "Davon zahlt das Land z. B. die neuen Fenster."],
        [
            "Am 3. Mai stimmte der Rat mit 21 zu 9 Stimmen zu.",
            "Die Gegner nannten den Plan zu teuer.",
        ],
        [
            "Die Bücher kommen in die alte Schule in der Hauptstr. 12.",
            "Dort ist ab dem 5. Januar geöffnet.",
        ],
        [
            "Viele Leser, u. a. Schüler und Rentner, fürchten lange Wege.",
            "Ein Bücherbus soll ihnen helfen.",
        ],
    ],
    "fr": [
        [
            "La bibliothèque ferme ses portes le 31 décembre pour un an.",
            "M. Dupont l'a annoncé lundi soir.",
        ],
        [
            "Les travaux coûtent 4,2 millions d'euros.",
            "La région en paie la moitié, dit Mme Leroy.",
        ],
        ["« Ce projet est trop cher ! »", "C'est l'avis de neuf élus sur trente."],
        [
            "Les livres seront prêtés au n° 12 de la rue du Port.",
            "La salle ouvre le 1er février à 9 h.",
        ],
        ["Les lecteurs craignent de longs trajets.", "Un bus de livres doit passer chaque mardi."],
    ],
    "es": [
        [
            "La biblioteca municipal cierra el 31 de diciembre durante un año.",
            "Lo anunció el Sr. García el lunes.",
        ],
        [
            "Las obras cuestan 4,2 millones de euros.",
            "La Dra. Ruiz dirige el proyecto desde el 3 de mayo.",
        ],
        ["¿Quién paga las ventanas nuevas?", "La región paga la mitad y la ciudad el resto."],
        [
            "Los libros pasan a la escuela vieja, en la pág. 4 del plan.",
            "Allí se abre el 5 de enero.",
        ],
        ["Muchos lectores temen los viajes largos.", "¡Un autobús con libros los ayudará!"],
    ],
    "pt": [
        [
            "A biblioteca municipal fecha em 31 de dezembro durante um ano.",
            "O Sr. Costa deu a notícia na segunda-feira.",
        ],
        ["As obras custam 4,2 milhões de euros.", "A Dra. Lopes dirige o projeto desde 3 de maio."],
        ["A câmara aprovou o plano com 21 votos contra 9.", "A oposição diz que é caro demais."],
        [
            "Os livros vão para a escola velha, no n.º 12 da rua do Porto.",
            "A sala abre em 5 de janeiro.",
        ],
        ["Muitos leitores temem viagens longas.", "Um autocarro com livros vai passar às terças."],
    ],
    "it": [
        [
            "La biblioteca comunale chiude il 31 dicembre per un anno.",
            "Lo ha detto il sig. Rossi lunedì sera.",
        ],
        [
            "I lavori costano 4,2 milioni di euro.",
            "La dott. Bianchi guida il progetto dal 3 maggio.",
        ],
        [
            "Il consiglio ha approvato il piano con 21 voti contro 9.",
            "Per l'opposizione costa troppo.",
        ],
        [
            "I libri vanno nella vecchia scuola, come dice l'art. 5 del piano.",
            "La sala apre il 5 gennaio.",
        ],
        ["Molti lettori temono viaggi lunghi.", "Un autobus di libri passerà ogni martedì."],
    ],
    "nl": [
        [
            "De stadsbibliotheek sluit op 31 december voor een jaar.",
            "Dat zei dhr. De Vries maandag.",
        ],
        ["De verbouwing kost 4,2 miljoen euro.", "Mevr. Bakker leidt het werk sinds 3 mei."],
        ["De raad stemde met 21 tegen 9 voor het plan.", "De tegenstanders vinden het te duur."],
        ["De boeken gaan naar de oude school aan de haven.", "Daar is het vanaf 5 januari open."],
        ["Veel lezers, o.a. scholieren, vrezen lange reizen.", "Een boekenbus moet hen helpen."],
    ],
    "ru": [
        [
            "Городская библиотека закрывается 31 декабря на один год.",
            "Об этом сообщил проф. Иванов в понедельник.",
        ],
        ["Ремонт стоит 4,2 млн рублей.", "Работы начались в 2025 г. и идут до весны."],
        ["Совет принял план: 21 голос за и 9 против.", "Противники считают его слишком дорогим."],
        ["Книги перевезут в старую школу на ул. Садовая.", "Там откроют зал 5 января."],
        ["Многие читатели боятся долгих поездок.", "Им поможет автобус с книгами."],
    ],
    "ar": [
        ["تغلق مكتبة المدينة أبوابها في 31 ديسمبر لمدة عام.", "أعلن ذلك د. سالم يوم الاثنين."],
        ["تكلف أعمال البناء أربعة ملايين دينار.", "تدفع الدولة نصف المبلغ."],
        ["هل الخطة غالية جدا؟", "تسعة أعضاء من ثلاثين يقولون نعم."],
        ["تنتقل الكتب إلى المدرسة القديمة قرب الميناء.", "تفتح القاعة هناك في 5 يناير."],
        ["يخشى كثير من القراء الطريق الطويل.", "ستساعدهم حافلة الكتب كل ثلاثاء."],
    ],
    "hi": [
        ["नगर पुस्तकालय 31 दिसंबर से एक साल के लिए बंद रहेगा।", "डॉ. शर्मा ने सोमवार को यह बताया।"],
        ["मरम्मत पर 4.2 करोड़ रुपये खर्च होंगे।", "आधा पैसा राज्य सरकार देगी।"],
        ["परिषद ने 21 के मुकाबले 9 मतों से योजना मंजूर की।", "विरोधी इसे बहुत महंगा मानते हैं।"],
        ["किताबें पुराने स्कूल में रखी जाएंगी।", "वहां कमरा 5 जनवरी को खुलेगा।"],
        ["कई पाठक लंबी यात्रा से डरते हैं।", "क्या किताबों की बस उनकी मदद करेगी?"],
    ],
    "zh": [
        ["市图书馆将于12月31日关闭一年。", "馆长李明星期一宣布了这个消息。"],
        ["改建需要四百二十万元。", "其中一半由省政府支付。"],
        ["市议会以21票对9票通过了计划。", "反对者说：“太贵了！”"],
        ["图书将搬到港口附近的旧学校。", "阅览室1月5日开放。"],
        ["许多读者担心路太远。", "图书车每星期二会来吗？"],
    ],
    "ja": [
        ["市立図書館は12月31日から一年間休館する。", "館長の田中氏が月曜日に発表した。"],
        ["改修には四億二千万円かかる。", "半分は県が負担する。"],
        ["市議会は21対9で計画を承認した。", "反対派は「高すぎる」と述べた。"],
        ["本は港の近くの古い学校に移される。", "閲覧室は1月5日に開く。"],
        ["多くの読者は遠い道のりを心配している。", "移動図書館が毎週火曜日に来る。"],
    ],
}
