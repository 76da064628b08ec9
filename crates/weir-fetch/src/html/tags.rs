//! The elements that matter here. Any other element is transparent: its text belongs to the element around it.

/// An element or a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    Text,
    Body,
    Div,
    P,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    Ul,
    Ol,
    Li,
    Dl,
    Dt,
    Dd,
    Quote,
    Pre,
    Code,
    A,
    Img,
    Br,
    Hr,
    Em,
    Strong,
    Del,
    Table,
    Rows,
    Tr,
    Td,
    Th,
    Main,
    Article,
    Section,
    Header,
    Footer,
    Nav,
    Aside,
    Form,
    Title,
    /// Any other element whose text is not for readers, such as `noscript` or `iframe`.
    Silent,
    Script,
    Style,
    Svg,
    Math,
    /// The source of a formula, or another form of it.
    Annotation,
    Template,
    Button,
    Select,
    // Void elements that are only read for their attributes.
    Meta,
    Base,
}

use Tag::{
    A, Annotation, Article, Aside, Base, Body, Br, Button, Code, Dd, Del, Div, Dl, Dt, Em, Footer, Form, H1, H2, H3,
    H4, H5, H6, Header, Hr, Img, Li, Main, Math, Meta, Nav, Ol, P, Pre, Quote, Rows, Script, Section, Select, Silent,
    Strong, Style, Svg, Table, Td, Template, Th, Title, Tr, Ul,
};

pub(super) const COUNT: usize = Base as usize + 1;

pub(super) fn of(name: &[u8]) -> Option<Tag> {
    Some(match name {
        b"body" => Body,
        b"div" | b"center" | b"hgroup" | b"figure" | b"dialog" | b"search" | b"fieldset" | b"details" | b"address"
        | b"menu" => Div,
        b"p" | b"summary" | b"figcaption" | b"caption" | b"legend" => P,
        b"h1" => H1,
        b"h2" => H2,
        b"h3" => H3,
        b"h4" => H4,
        b"h5" => H5,
        b"h6" => H6,
        b"ul" => Ul,
        b"ol" => Ol,
        b"li" => Li,
        b"dl" => Dl,
        b"dt" => Dt,
        b"dd" => Dd,
        b"blockquote" => Quote,
        b"pre" | b"listing" | b"xmp" => Pre,
        b"code" | b"kbd" | b"samp" | b"tt" => Code,
        b"a" => A,
        b"img" => Img,
        b"br" => Br,
        b"hr" => Hr,
        b"em" | b"i" | b"cite" | b"dfn" => Em,
        b"strong" | b"b" => Strong,
        b"del" | b"s" | b"strike" => Del,
        b"table" => Table,
        b"thead" | b"tbody" | b"tfoot" => Rows,
        b"tr" => Tr,
        b"td" => Td,
        b"th" => Th,
        b"main" => Main,
        b"article" => Article,
        b"section" => Section,
        b"header" => Header,
        b"footer" => Footer,
        b"nav" => Nav,
        b"aside" => Aside,
        b"form" => Form,
        b"title" => Title,
        b"script" => Script,
        b"style" => Style,
        b"svg" => Svg,
        b"math" => Math,
        b"annotation" | b"annotation-xml" => Annotation,
        b"template" => Template,
        b"button" => Button,
        b"select" | b"datalist" => Select,
        b"noscript" | b"iframe" | b"object" | b"canvas" | b"audio" | b"video" | b"textarea" | b"noembed"
        | b"noframes" => Silent,
        b"meta" => Meta,
        b"base" => Base,
        _ => return None,
    })
}

impl Tag {
    pub(super) fn is_void(self) -> bool {
        matches!(self, Img | Br | Hr | Meta | Base)
    }

    /// Returns whether the element's text is usually not for readers.
    pub(super) fn is_silent(self) -> bool {
        matches!(self, Silent | Script | Style | Svg | Math | Annotation | Template | Button | Select)
    }

    /// Returns whether the element starts on a new line.
    pub(super) fn is_block(self) -> bool {
        !matches!(self, Tag::Text | Code | A | Img | Br | Em | Strong | Del | Title) && !self.is_silent()
    }

    /// Returns whether an end tag inside the element cannot close anything outside it.
    pub(super) fn is_boundary(self) -> bool {
        matches!(self, Table | Td | Th | Body)
    }

    pub(super) fn heading(self) -> Option<usize> {
        [H1, H2, H3, H4, H5, H6].iter().position(|heading| *heading == self).map(|place| place + 1)
    }
}
